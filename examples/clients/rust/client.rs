//! A client of docs/service/protocol.md: subset selection on tables, without laws and relay.
use crate::support::{exchange, sha256, Res, Source, J, J::*};
use std::{collections::{BTreeMap, BTreeSet}, fs, io::*, thread::sleep, time::Duration};

pub struct Oracle { items: u64, size: u64, threshold: u64 }
pub struct Deployment { digest: String, pub sizes: [i64; 3], answers: i64, oracles: BTreeMap<String, Oracle> }

pub fn read_deployment(document: &J) -> Res<Deployment> {
    document.get("format").whole(2, 2)?;
    let strange = ["shuffle", "certificate", "structure", "policy"].iter().any(|key| *document.get(key) != Null);
    let known = document.get("mechanism").text()? == "subset-selection" && document.get("delta").text()? == "0";
    if strange || !known { return Err("not supported".into()) }
    let size = |key| document.get("shape").get(key).whole(1, 10_000);
    let (s, h, drawn) = (size("states")?, size("horizon")?, document.get("randomizer"));
    let answers = drawn.get("answers").whole(1, h)?;
    let text = document.get("epsilon").text()?;
    let decimal = text.chars().all(|c| c == '.' || c.is_ascii_digit());
    let epsilon: f64 = text.parse().ok().filter(|e| decimal && *e > 0.0).ok_or("no ε")?;
    let kinds = match drawn.get("layout").text()? {
        "separate" => vec![("reward", 2 * s + 1), ("transition", s * s + 1)],
        _ => vec![("joint", 2 * s * s + 1)],
    };
    let mut oracles = BTreeMap::new();
    for (kind, d) in kinds.into_iter().filter(|(kind, _)| *kind != "transition" || h > 1) {
        let given = drawn.get(kind);
        let (items, size) = (given.get("items").whole(d, d)? as u64, given.get("size").whole(1, d - 1)? as u64);
        let threshold: u64 = given.get("threshold").text()?.parse().map_err(|_| "no threshold")?;
        let p = threshold as f64 / ((1u128 << 64) - threshold as u128) as f64; // p/(1 − p)
        let loss = (p * (items - size) as f64 / size as f64).ln().abs();
        if loss > epsilon / answers as f64 + 2f64.powi(-31) { return Err(format!("{kind} reveals more than ε")) }
        oracles.insert(kind.to_string(), Oracle { items, size, threshold });
    }
    if h * s > 1_000_000 { return Err("too many cells".into()) }
    let digest = sha256(document.canonical().as_bytes());
    Ok(Deployment { digest, sizes: [s, size("actions")?, h], answers, oracles })
}

pub struct Assignment { head: String, table: Vec<Vec<usize>>, questions: Vec<(String, usize)> }

pub fn read_assignment(given: &J, deployment: &Deployment, number: Option<i64>) -> Res<Assignment> {
    let (version, index) = (given.get("version").whole(0, 1 << 53)?, given.get("assignment").whole(0, 1 << 53)?);
    let (most, [s, a, h]) = ((1 << 53) - 1, deployment.sizes);
    let own = if *given.get("number") == Null { None } else { Some(given.get("number").whole(0, most)?) };
    let foreign = given.get("deployment").text()? != deployment.digest || own.is_some_and(|own| own != number.unwrap_or(own));
    if foreign || *given.get("law") != Null { return Err("for somebody else, or a law: not supported".into()) }
    let mut table = given.get("policy").list()?.iter().map(|row| row.whole_list(a - 1)).collect::<Res<Vec<_>>>()?;
    if own.is_some() && table.len() == 1 { table = vec![table[0].clone(); h as usize] }
    if table.len() != h as usize || table.iter().any(|row| row.len() != s as usize) { return Err("no table".into()) }
    let mut questions = vec![];
    for asked in given.get("questions").list()? {
        let kind = asked.get("kind").text()?.to_string();
        let step = asked.get("step").whole(0, h - 1 - (kind == "transition") as i64)? as usize;
        let known = deployment.oracles.contains_key(&kind) && *asked.get("where") == Null;
        if !known || questions.iter().any(|(_, other)| *other == step) { return Err("no such question".into()) }
        questions.push((kind, step));
    }
    if questions.len() as i64 != deployment.answers { return Err("another number of questions".into()) }
    let numbered = own.map_or("".into(), |own| format!(",\"number\":{own}"));
    let head = format!("\"deployment\":\"{}\",\"version\":{version},\"assignment\":{index}{numbered}", deployment.digest);
    Ok(Assignment { head, table, questions })
}

pub type Data = (Vec<usize>, Vec<usize>, Vec<f64>); // states, actions, rewards; empty of a user who left

pub fn randomized(deployment: &Deployment, one: &Assignment, data: &Data, source: &mut Source) -> Res<Vec<u64>> {
    let ((states, actions, rewards), mut values, mut start) = (data, vec![], 0);
    let s = deployment.sizes[0] as u64;
    for (kind, step) in &one.questions {
        let Oracle { items, size, threshold } = deployment.oracles[kind];
        let mut own = items - 1;
        if !states.is_empty() && (0..=*step).all(|h| actions[h] == one.table[h][states[h]]) {
            let (here, after) = (states[*step] as u64, states.get(step + 1).map_or(0, |after| *after as u64));
            own = match kind.as_str() {
                "reward" => 2 * here + source.bit(rewards[*step])?,
                "transition" => s * here + after,
                _ => 2 * s * here + s * source.bit(rewards[*step])? + after,
            };
        }
        let kept = source.word()? < threshold;
        let mut others = BTreeSet::new();
        for last in items - 1 - (size - kept as u64)..items - 1 {
            let pick = source.pick(last + 1)?;
            if !others.insert(pick) { others.insert(last); }
        }
        let mut answer: Vec<u64> = others.iter().map(|i| start + i + (*i >= own) as u64).collect();
        if kept { answer.push(start + own) }
        answer.sort();
        values.extend(answer);
        start += items;
    }
    Ok(values)
}

fn settled(url: &str, method: &str, path: &str, body: &str, id: &str) -> Res<(u16, J)> {
    for attempt in 0..9 {
        let found = exchange(url, method, path, body);
        let wait = found.as_ref().map_or(0, |found| found.1);
        match found {
            Some((200, _, said)) if id.is_empty() || *said.get("id") == Str(id.into()) => return Ok((200, said)),
            Some((408 | 425 | 429, ..)) => (),
            Some((status @ 400..500, _, said)) => return Ok((status, said)),
            _ => (),
        }
        sleep(Duration::from_millis(1000 * wait + Source::default().pick(200 << attempt)?));
    }
    Err("no response: unsent".into())
}

pub fn take_part(call: &J, source: &mut Source) -> Res<String> {
    let (url, digest) = (call.get("url").text()?, call.get("digest").text()?);
    let deployment = read_deployment(settled(url, "GET", "/v1/deployment", "", "")?.1.get("deployment"))?;
    if deployment.digest != digest { return Err("another digest".into()) }
    let failed = |error: Error| error.to_string();
    let path = format!("{}/{digest}", call.get("ledger").text()?);
    let mut ledger = fs::OpenOptions::new().read(true).append(true).create(true).open(path).map_err(failed)?;
    ledger.lock().map_err(failed)?;
    let mut known = String::new();
    ledger.read_to_string(&mut known).map_err(failed)?;
    known.truncate(known.rfind('\n').map_or(0, |end| end + 1)); // a line that was cut short never counted
    ledger.set_len(known.len() as u64).map_err(failed)?;
    let mut note = |line: String| ledger.write_all((line + "\n").as_bytes()).and_then(|_| ledger.sync_all()).map_err(failed);
    let lines: Vec<&str> = known.lines().collect();
    let mut id = lines.first().map_or("".into(), |id| id.to_string());
    if let Some(verdict) = lines.get(3) { return Ok(format!("\"status\":\"{verdict}\",\"actions\":[]")) }
    if lines.len() == 2 { return Err("the report was lost, and is not drawn again".into()) }
    let (mut body, mut actions) = (lines.get(2).unwrap_or(&"").to_string(), vec![]);
    if body.is_empty() {
        if id.is_empty() {
            id = Source::default().bytes(16)?.iter().map(|byte| format!("{byte:02x}")).collect();
            note(id.clone())?; // paid
        }
        let number = source.below_power(53)? as i64;
        let given = settled(url, "GET", &format!("/v1/policy?id={id}&number={number}"), "", "")?.1;
        let one = read_assignment(&given, &deployment, Some(number))?;
        let seen = call.get("seen").whole_list(deployment.sizes[0] - 1)?;
        let rewards = call.get("rewards").list()?.iter().map(J::share).collect::<Res<Vec<f64>>>()?;
        let steps = (rewards.len() + 1).min(one.table.len());
        actions = (0..steps).map(|h| one.table[h][seen[h]]).collect();
        let left = rewards.len() < one.table.len();
        let data = if left { Default::default() } else { (seen, actions.clone(), rewards) };
        note("drawing".into())?;
        let values = randomized(&deployment, &one, &data, source)?;
        body = format!("{{\"id\":\"{id}\",{},\"values\":{values:?}}}", one.head);
        note(body.clone())?;
    }
    let (status, said) = settled(url, "POST", "/v1/reports", &body, &id)?;
    let verdict = if status == 200 { said.get("status").text()? } else { "refused" };
    note(verdict.into())?;
    Ok(format!("\"status\":\"{verdict}\",\"actions\":{actions:?}"))
}
