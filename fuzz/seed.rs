//! Writes what the fuzzers start from, taken from the project's own inputs: `corpus/TARGET/` and, for
//! texts, the words that they are made of as `corpus/TARGET.dict`.

#[path = "../e2e/robustness/seeds.rs"]
mod seeds;

use std::fmt::Write as _;
use std::{fs, io};

fn main() -> io::Result<()> {
    let corpus = seeds::root().join("fuzz/corpus");
    let all = [
        ("input", seeds::manifests()),
        ("cel", seeds::expressions()),
        ("quantity", seeds::quantities()),
        ("allocator", seeds::worlds()),
    ];
    for (target, inputs) in all {
        let folder = corpus.join(target);
        fs::create_dir_all(&folder)?;
        for (number, input) in inputs.iter().enumerate() {
            fs::write(folder.join(format!("seed-{number:04}")), input)?;
        }
        let words = seeds::words(&inputs).iter().fold(String::new(), |mut text, word| {
            let _ = writeln!(text, "\"{word}\"");
            text
        });
        fs::write(corpus.join(format!("{target}.dict")), words)?;
        println!("{target}: {} seeds", inputs.len());
    }
    Ok(())
}
