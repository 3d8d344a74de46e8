//! The client behind the contract of `ldprl conform`: a JSON object a line, in and out.
mod client;
mod support;
use client::{randomized, read_assignment, read_deployment, take_part};
use support::{parse, Res, Source, J, J::*};

fn draw(call: &J, source: &mut Source) -> Res<String> {
    let deployment = read_deployment(call.get("document"))?;
    let (one, user) = (read_assignment(call.get("assignment"), &deployment, None)?, call.get("trajectory"));
    let [s, a, _] = deployment.sizes;
    let rewards = user.get("rewards").list()?.iter().map(J::share).collect::<Res<Vec<f64>>>()?;
    let data = (user.get("states").whole_list(s - 1)?, user.get("actions").whole_list(a - 1)?, rewards);
    let count = call.get("count").whole(1, 1 << 30)?;
    let reports = (0..count).map(|_| randomized(&deployment, &one, &data, source)).collect::<Res<Vec<_>>>()?;
    Ok(format!("\"reports\":{reports:?}"))
}

fn main() {
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let call = parse(line.as_bytes(), &mut 0).expect("a call in JSON");
        let bytes = |hex: &str| (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect();
        let mut source = Source { replayed: call.get("bytes").text().ok().map(bytes), used: 0 };
        let answer = match call.get("call").text() {
            Ok("take_part") => take_part(&call, &mut source),
            Ok("draw") => draw(&call, &mut source),
            _ => Ok("\"supports\":[\"subset-selection\"]".into()),
        };
        let said = answer.unwrap_or_else(|error| format!("\"error\":{}", Str(error).canonical()));
        println!("{{{said},\"used\":{}}}", if source.replayed.is_some() { source.used } else { 0 });
    }
}
