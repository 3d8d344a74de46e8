//! What other languages have in their libraries: JSON, SHA-256, HTTP/1.1 and random numbers.
use std::{collections::BTreeMap, fs::File, io::*, net::TcpStream, time::Duration};

pub type Res<T> = std::result::Result<T, String>; // Err: refused, or impossible
#[derive(PartialEq)]
pub enum J { Null, Bool(bool), Num(String), Str(String), Arr(Vec<J>), Obj(BTreeMap<String, J>) }
use J::*;

impl J {
    pub fn get(&self, key: &str) -> &J { if let Obj(o) = self { o.get(key).unwrap_or(&Null) } else { &Null } }
    pub fn text(&self) -> Res<&str> { if let Str(s) = self { Ok(s) } else { Err("no text".into()) } }
    pub fn list(&self) -> Res<&[J]> { if let Arr(a) = self { Ok(a) } else { Err("no list".into()) } }
    pub fn whole(&self, least: i64, most: i64) -> Res<i64> { // "1.0" does not parse
        let n = if let Num(n) = self { n.parse().ok().filter(|n| (least..=most).contains(n)) } else { None };
        n.ok_or(format!("no whole number from {least} to {most}"))
    }
    pub fn share(&self) -> Res<f64> {
        let r = if let Num(n) = self { n.parse().ok().filter(|r| (0.0..=1.0).contains(r)) } else { None };
        r.ok_or("no number from 0 to 1".into())
    }
    pub fn whole_list(&self, most: i64) -> Res<Vec<usize>> { self.list()?.iter().map(|n| Ok(n.whole(0, most)? as usize)).collect() }
    pub fn canonical(&self) -> String {
        let quoted = |s: &str| format!("\"{}\"", s.chars().map(|c| match c {
            '"' | '\\' => format!("\\{c}"), '\n' => "\\n".into(), '\r' => "\\r".into(), '\t' => "\\t".into(),
            '\u{8}' => "\\b".into(), '\u{c}' => "\\f".into(), ..' ' => format!("\\u{:04x}", c as u32), c => c.into(),
        }).collect::<String>());
        match self {
            Null => "null".into(), Bool(b) => b.to_string(), Num(n) => n.clone(), Str(s) => quoted(s),
            Arr(a) => format!("[{}]", a.iter().map(J::canonical).collect::<Vec<_>>().join(",")),
            Obj(o) => format!("{{{}}}", o.iter().map(|(k, v)| quoted(k) + ":" + &v.canonical()).collect::<Vec<_>>().join(",")),
        }
    }
}
fn next(s: &[u8], at: &mut usize) -> Option<u8> {
    while s.get(*at)?.is_ascii_whitespace() { *at += 1 }
    *at += 1;
    Some(s[*at - 1])
}
fn more(s: &[u8], at: &mut usize, end: u8, count: usize) -> Option<bool> { // whether a list goes on
    match next(s, at)? { c if c == end => return Some(false), b',' if count > 0 => (), _ if count == 0 => *at -= 1, _ => return None }
    Some(true)
}
pub fn parse(s: &[u8], at: &mut usize) -> Option<J> {
    Some(match next(s, at)? {
        b'"' => Str(string(s, at)?),
        b'[' => { let mut a = vec![]; while more(s, at, b']', a.len())? { a.push(parse(s, at)?) } Arr(a) }
        b'{' => {
            let mut o = BTreeMap::new();
            while more(s, at, b'}', o.len())? {
                let key = if next(s, at)? == b'"' { string(s, at)? } else { return None };
                if next(s, at)? != b':' { return None }
                o.insert(key, parse(s, at)?);
            }
            Obj(o)
        }
        _ => {
            let word = s[*at - 1..].split(|c| b",:]} \t\r\n".contains(c)).next()?;
            *at += word.len() - 1;
            match word { b"null" => Null, b"true" => Bool(true), b"false" => Bool(false), n => Num(String::from_utf8(n.into()).ok()?) }
        }
    })
}
fn string(s: &[u8], at: &mut usize) -> Option<String> {
    let mut units: Vec<u16> = vec![]; // UTF-16, as \u escapes are
    loop {
        let plain = s[*at..].iter().position(|c| b"\"\\".contains(c))?;
        units.extend(std::str::from_utf8(&s[*at..*at + plain]).ok()?.encode_utf16());
        *at += plain + 2;
        if s[*at - 2] == b'"' { *at -= 1; return String::from_utf16(&units).ok() }
        units.push(match s.get(*at - 1)? {
            b'n' => 10, b't' => 9, b'r' => 13, b'b' => 8, b'f' => 12,
            b'u' => { *at += 4; u16::from_str_radix(std::str::from_utf8(s.get(*at - 4..*at)?).ok()?, 16).ok()? }
            c => *c as u16,
        });
    }
}
pub fn sha256(text: &[u8]) -> String {
    let primes = || (2u32..).filter(|n| (2..*n).all(|d| n % d != 0)).map(f64::from);
    let part = |root: f64| (root.fract() * 2f64.powi(32)) as u32;
    let k: Vec<u32> = primes().take(64).map(|p| part(p.cbrt())).collect();
    let mut h: Vec<u32> = primes().take(8).map(|p| part(p.sqrt())).collect();
    let zeros = vec![0; (119 - text.len() % 64) % 64];
    let data = [text, &[0x80], &zeros, &(8 * text.len() as u64).to_be_bytes()].concat();
    let add = |terms: &[u32]| terms.iter().fold(0u32, |sum, x| sum.wrapping_add(*x));
    let turned = |x: u32, a, b, c| x.rotate_right(a) ^ x.rotate_right(b) ^ x.rotate_right(c);
    let moved = |x: u32, a, b, c| x.rotate_right(a) ^ x.rotate_right(b) ^ x >> c;
    for block in data.chunks(64) {
        let mut w: Vec<u32> = block.chunks(4).map(|b| u32::from_be_bytes(b.try_into().unwrap())).collect();
        let mut v = h.clone();
        for i in 0..64 {
            let t = add(&[v[7], turned(v[4], 6, 11, 25), v[4] & v[5] ^ !v[4] & v[6], k[i], w[i]]);
            let u = add(&[t, turned(v[0], 2, 13, 22), v[0] & v[1] ^ v[0] & v[2] ^ v[1] & v[2]]);
            v.rotate_right(1);
            (v[4], v[0]) = (v[4].wrapping_add(t), u);
            w.push(add(&[w[i], moved(w[i + 1], 7, 18, 3), w[i + 9], moved(w[i + 14], 17, 19, 10)]));
        }
        h = h.iter().zip(v).map(|(x, y)| x.wrapping_add(y)).collect();
    }
    h.iter().map(|x| format!("{x:08x}")).collect()
}

/// The system's generator, or bytes of a test.
#[derive(Default)]
pub struct Source { pub replayed: Option<Vec<u8>>, pub used: usize }
impl Source {
    pub fn bytes(&mut self, n: usize) -> Res<Vec<u8>> {
        let mut found = vec![0; n];
        self.used += n;
        match &self.replayed {
            Some(given) => found.copy_from_slice(given.get(self.used - n..self.used).ok_or("no bytes left")?),
            None => File::open("/dev/urandom").and_then(|mut f| f.read_exact(&mut found)).map_err(|e| e.to_string())?,
        }
        Ok(found)
    }
    pub fn word(&mut self) -> Res<u64> { Ok(u64::from_le_bytes(self.bytes(8)?.try_into().unwrap())) }
}

impl Source {
    pub fn pick(&mut self, n: u64) -> Res<u64> {
        loop {
            let product = if n == 1 { 1 << 31 } else { (self.word()? & 0xffff_ffff) * n };
            if product % (1 << 32) >= (1 << 32) % n { return Ok(product >> 32) }
        }
    }
    pub fn below_power(&mut self, bits: usize) -> Res<u64> {
        // below(2^bits); what is 2⁶⁴ or more is its largest value.
        let taken = self.bytes(bits.div_ceil(8))?;
        let low = taken.iter().take(16).rev().fold(0u128, |x, byte| x << 8 | *byte as u128);
        let high = taken.iter().skip(16).any(|byte| *byte != 0);
        let drawn = u64::try_from(low >> (8 * taken.len() - bits)).unwrap_or(u64::MAX);
        Ok(if high { u64::MAX } else { drawn })
    }
    pub fn bit(&mut self, r: f64) -> Res<u64> {
        if r == 0.0 || r == 1.0 { return Ok(r as u64) }
        let exponent = (r.to_bits() >> 52) as usize;
        let a = r.to_bits() << 12 >> 12 | ((exponent > 0) as u64) << 52; // r = a/2^(1075 − exponent)
        let zeros = a.trailing_zeros() as usize;
        Ok((self.below_power(1075 - exponent.max(1) - zeros)? < a >> zeros) as u64)
    }
}

/// Status, Retry-After and document of a response; None where it is none, or not whole.
pub fn exchange(url: &str, method: &str, path: &str, body: &str) -> Option<(u16, u64, J)> {
    let (host, prefix) = url.strip_prefix("http://")?.split_once('/').unwrap_or((url.strip_prefix("http://")?, ""));
    let mut stream = TcpStream::connect(host).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    let prefix = if prefix.is_empty() { "".into() } else { format!("/{prefix}") };
    write!(stream, "{method} {prefix}{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\n\
        Content-Length: {}\r\n\r\n{body}", body.len()).ok()?;
    let mut all = vec![];
    stream.take(8 << 20).read_to_end(&mut all).ok()?;
    let end = all.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8(all[..end].into()).ok()?.to_lowercase();
    let field = |name| head.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
    if field("content-length:")? != (all.len() - end - 4) as u64 { return None }
    Some((head.get(9..12)?.parse().ok()?, field("retry-after:").unwrap_or(0), parse(&all[end + 4..], &mut 0).unwrap_or(Null)))
}
