//! An API server on loopback that gives one answer after the other and notes what it was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::cluster::api::Server;

/// One answer.
pub enum Answer {
    /// A status code and a body.
    Says(u16, Value),
    /// The connection is closed.
    Silence,
}

impl Answer {
    pub fn ok(object: Value) -> Self {
        Self::Says(200, object)
    }

    pub fn created() -> Self {
        Self::Says(201, json!({"kind": "Status", "apiVersion": "v1", "status": "Success", "code": 201}))
    }

    pub fn conflict() -> Self {
        Self::failure(409, "Conflict")
    }

    pub fn refused() -> Self {
        Self::failure(403, "Forbidden")
    }

    fn failure(code: u16, reason: &str) -> Self {
        let message = format!("the script says {reason}");
        let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason,
            "message": message, "code": code});
        Self::Says(code, status)
    }
}

/// A server that is through with its script when all answers were given.
pub struct Script {
    port: u16,
    requests: mpsc::Receiver<(String, Value)>,
    /// Ends by itself with the last answer.
    _server: JoinHandle<()>,
}

impl Script {
    pub fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, requests) = mpsc::channel();
        let server = std::thread::spawn(move || {
            for answer in answers {
                let (stream, _) = listener.accept().unwrap();
                sender.send(converse(stream, answer)).unwrap();
            }
        });
        Self { port, requests, _server: server }
    }

    pub fn client(&self) -> Server {
        let url = format!("http://127.0.0.1:{}", self.port).parse().unwrap();
        Server::new(kube::Client::try_from(kube::Config::new(url)).unwrap())
    }

    /// The requests so far: `METHOD PATH`, and the body.
    pub fn requests(&self) -> Vec<(String, Value)> {
        self.requests.try_iter().collect()
    }
}

/// Reads one request, gives the answer, closes.
fn converse(mut stream: TcpStream, answer: Answer) -> (String, Value) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        if header.trim().is_empty() {
            break;
        }
        if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    if let Answer::Says(code, object) = answer {
        let text = object.to_string();
        let head = format!("HTTP/1.1 {code} X\r\ncontent-type: application/json\r\nconnection: close\r\n");
        write!(stream, "{head}content-length: {}\r\n\r\n{text}", text.len()).unwrap();
    }
    let mut words = line.split_whitespace();
    let (method, target) = (words.next().unwrap(), words.next().unwrap());
    let path = target.split('?').next().unwrap();
    (format!("{method} {path}"), serde_json::from_slice(&body).unwrap_or_default())
}
