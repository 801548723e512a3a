//! IP addresses and networks (Kubernetes' `cel/library/ip.go` and `cidr.go`), read as Go's package
//! `net/netip` does.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::fmt;
use std::sync::Arc;

use super::strings::go_quoted;
use crate::cel::error::EvalError;
use crate::cel::functions::Function;
use crate::cel::value::{Outcome, Value};

/// An address with the length of a prefix, no more than it has bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cidr {
    pub(in crate::cel) address: IpAddr,
    pub(in crate::cel) bits: u8,
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

impl Cidr {
    /// The address with nothing after its prefix.
    fn masked(self) -> Self {
        Self { address: masked(self.address, self.bits), bits: self.bits }
    }

    fn contains(self, address: IpAddr) -> bool {
        self.address.is_ipv4() == address.is_ipv4()
            && masked(address, self.bits) == masked(self.address, self.bits)
    }
}

fn masked(address: IpAddr, bits: u8) -> IpAddr {
    let bits = u32::from(bits);
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - bits.min(32)).unwrap_or(0);
            IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & mask))
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - bits.min(128)).unwrap_or(0);
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask))
        }
    }
}

/// What Go says of a text that is no address: the complaint and the place, if it names one.
type Complaint<'t> = (&'static str, &'t str);

fn complain(text: &str, (message, at): Complaint<'_>) -> String {
    let text = go_quoted(text);
    if at.is_empty() {
        return format!("ParseAddr({text}): {message}");
    }
    format!("ParseAddr({text}): {message} (at {})", go_quoted(at))
}

/// An address, and whether it has a zone.
fn parse(text: &str) -> Result<(IpAddr, bool), String> {
    let parsed = match text.find(['.', ':', '%']).map(|at| text.as_bytes()[at]) {
        Some(b'.') => parse_v4(text).map(|fields| (IpAddr::from(fields), false)),
        Some(b':') => parse_v6(text).map(|(address, zone)| (IpAddr::V6(address), zone)),
        Some(_) => Err(("missing IPv6 address", "")),
        None => Err(("unable to parse IP", "")),
    };
    parsed.map_err(|complaint| complain(text, complaint))
}

fn parse_v4(text: &str) -> Result<[u8; 4], Complaint<'_>> {
    let mut fields = [0; 4];
    let (mut field, mut digits, mut value) = (0, 0, 0_u16);
    for (at, c) in text.char_indices() {
        match c {
            '0'..='9' => {
                if digits == 1 && value == 0 {
                    return Err(("IPv4 field has octet with leading zero", ""));
                }
                value = value * 10 + u16::from(text.as_bytes()[at] - b'0');
                digits += 1;
                fields[field] = u8::try_from(value).map_err(|_| ("IPv4 field has value >255", ""))?;
            }
            '.' if digits == 0 || at + 1 == text.len() => {
                return Err(("IPv4 field must have at least one digit", &text[at..]));
            }
            '.' if field == 3 => return Err(("IPv4 address too long", "")),
            '.' => (field, digits, value) = (field + 1, 0, 0),
            _ => return Err(("unexpected character", &text[at..])),
        }
    }
    if field < 3 { Err(("IPv4 address too short", "")) } else { Ok(fields) }
}

fn parse_v6(text: &str) -> Result<(Ipv6Addr, bool), Complaint<'_>> {
    let (whole, zone) = match text.split_once('%') {
        Some((_, "")) => return Err(("zone must be a non-empty string", "")),
        Some((whole, _)) => (whole, true),
        None => (text, false),
    };
    let mut bytes: Vec<u8> = Vec::with_capacity(16);
    let mut gap = None;
    let mut rest = whole;
    if let Some(after) = rest.strip_prefix("::") {
        gap = Some(0);
        rest = after;
        if rest.is_empty() {
            return Ok((Ipv6Addr::UNSPECIFIED, zone));
        }
    }
    while bytes.len() < 16 {
        let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        if digits > 4 {
            return Err(("each group must have 4 or less digits", rest));
        }
        if digits == 0 {
            return Err(("each colon-separated field must have at least one digit", rest));
        }
        if rest[digits..].starts_with('.') {
            if gap.is_none() && bytes.len() != 12 {
                return Err(("embedded IPv4 address must replace the final 2 fields of the address", rest));
            }
            if bytes.len() > 12 {
                let message = "too many hex fields to fit an embedded IPv4 at the end of the address";
                return Err((message, rest));
            }
            bytes.extend(parse_v4(rest)?);
            rest = "";
            break;
        }
        let group = u16::from_str_radix(&rest[..digits], 16).unwrap_or(0);
        bytes.extend(group.to_be_bytes());
        rest = &rest[digits..];
        let Some(after) = rest.strip_prefix(':') else {
            if rest.is_empty() {
                break;
            }
            return Err(("unexpected character, want colon", rest));
        };
        if after.is_empty() {
            return Err(("colon must be followed by more characters", rest));
        }
        rest = after;
        if let Some(after) = rest.strip_prefix(':') {
            if gap.is_some() {
                return Err(("multiple :: in address", rest));
            }
            gap = Some(bytes.len());
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
    }
    if !rest.is_empty() {
        return Err(("trailing garbage after address", rest));
    }
    fill(bytes, gap).map(|address| (address, zone)).map_err(|message| (message, ""))
}

/// Sixteen bytes, with zeros where `::` stood.
fn fill(mut bytes: Vec<u8>, gap: Option<usize>) -> Result<Ipv6Addr, &'static str> {
    let missing = 16_usize.saturating_sub(bytes.len());
    match gap {
        None if missing > 0 => return Err("address string too short"),
        Some(_) if missing == 0 => return Err("the :: must expand to at least one field of zeros"),
        Some(at) => drop(bytes.splice(at..at, vec![0; missing])),
        None => {}
    }
    <[u8; 16]>::try_from(bytes).map(Ipv6Addr::from).map_err(|_| "trailing garbage after address")
}

/// Refuses what cannot stand between brackets in a URL.
pub(super) fn check_ipv6(text: &str) -> Result<(), String> {
    match parse(text) {
        Ok((IpAddr::V6(_), _)) => Ok(()),
        Ok(_) => Err("invalid IP-literal".to_owned()),
        Err(reason) => Err(format!("invalid host: {reason}")),
    }
}

fn is_mapped(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().is_some())
}

fn address(text: &str) -> Result<IpAddr, String> {
    let quoted = || go_quoted(text);
    let (address, zone) = parse(text).map_err(|reason| {
        format!("IP Address {} parse error during conversion from string: {reason}", quoted())
    })?;
    if zone {
        return Err(format!("IP address {} with zone value is not allowed", quoted()));
    }
    if is_mapped(address) {
        return Err(format!("IPv4-mapped IPv6 address {} is not allowed", quoted()));
    }
    Ok(address)
}

fn network(text: &str) -> Result<Cidr, String> {
    const CONVERSION: &str = "network address parse error during conversion from string: ";
    let refused = |reason: String| format!("{CONVERSION}netip.ParsePrefix({}): {reason}", go_quoted(text));
    let Some((name, bits)) = text.rsplit_once('/') else { return Err(refused("no '/'".to_owned())) };
    let (address, zone) = parse(name).map_err(refused)?;
    if zone {
        return Err(refused("IPv6 zones cannot be present in a prefix".to_owned()));
    }
    let number = bits.bytes().all(|byte| byte.is_ascii_digit()) && (bits.len() < 2 || !bits.starts_with('0'));
    // What does not fit is out of range for Go's integers too, which it calls bad.
    let Some(length) = bits.parse::<i64>().ok().filter(|_| number) else {
        return Err(refused(format!("bad bits after slash: {}", go_quoted(bits))));
    };
    let most = if address.is_ipv4() { 32 } else { 128 };
    let length = u8::try_from(length).ok().filter(|length| *length <= most);
    let bits = length.ok_or_else(|| refused("prefix length out of range".to_owned()))?;
    if is_mapped(address) {
        return Err(format!("IPv4-mapped IPv6 address {} is not allowed", go_quoted(text)));
    }
    Ok(Cidr { address, bits })
}

fn to_ip(text: &str) -> Result<IpAddr, Arc<EvalError>> {
    address(text).or_else(EvalError::operation)
}

fn to_cidr(text: &str) -> Result<Cidr, Arc<EvalError>> {
    network(text).or_else(|reason| {
        let conversion = "network address parse error during conversion from string";
        EvalError::operation(format!("{conversion}: {reason}"))
    })
}

/// A function that makes or takes addresses or networks. `None` if it takes no such values.
pub(super) fn call<'a>(function: Function, args: &[Value<'a>]) -> Option<Outcome<'a>> {
    Some(match (function, args) {
        (Function::Ip, [Value::String(text)]) => to_ip(text).map(Value::Ip),
        (Function::Ip, [Value::Cidr(cidr)]) => Ok(Value::Ip(cidr.address)),
        (Function::IsIp, [Value::String(text)]) => Ok(Value::Bool(address(text).is_ok())),
        (Function::IpIsCanonical, [Value::String(text)]) => {
            to_ip(text).map(|address| Value::Bool(address.to_string() == **text))
        }
        (Function::Cidr, [Value::String(text)]) => to_cidr(text).map(Value::Cidr),
        (Function::IsCidr, [Value::String(text)]) => Ok(Value::Bool(network(text).is_ok())),
        (Function::ToString, [Value::Ip(address)]) => Ok(Value::text(address.to_string())),
        (Function::ToString, [Value::Cidr(cidr)]) => Ok(Value::text(cidr.to_string())),
        (Function::PrefixLength, [Value::Cidr(cidr)]) => Ok(Value::Int(i64::from(cidr.bits))),
        (Function::Masked, [Value::Cidr(cidr)]) => Ok(Value::Cidr(cidr.masked())),
        (Function::ContainsIp, [Value::Cidr(cidr), Value::Ip(address)]) => {
            Ok(Value::Bool(cidr.contains(*address)))
        }
        // Upstream loses what is wrong with the text.
        (Function::ContainsIp, [Value::Cidr(cidr), Value::String(text)]) => match address(text) {
            Ok(address) => Ok(Value::Bool(cidr.contains(address))),
            Err(_) => EvalError::overload(),
        },
        (Function::ContainsCidr, [Value::Cidr(cidr), Value::Cidr(other)]) => Ok(holds(*cidr, *other)),
        (Function::ContainsCidr, [Value::Cidr(cidr), Value::String(text)]) => {
            to_cidr(text).map(|other| holds(*cidr, other))
        }
        (_, [Value::Ip(address)]) => return property(function, *address),
        _ => return None,
    })
}

fn holds<'a>(cidr: Cidr, other: Cidr) -> Value<'a> {
    Value::Bool(cidr.bits <= other.bits && cidr.contains(other.address))
}

fn property<'a>(function: Function, address: IpAddr) -> Option<Outcome<'a>> {
    let link_local = match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    Some(Ok(Value::Bool(match function {
        Function::Family => return Some(Ok(Value::Int(if address.is_ipv4() { 4 } else { 6 }))),
        Function::IsUnspecified => address.is_unspecified(),
        Function::IsLoopback => address.is_loopback(),
        Function::IsLinkLocalMulticast => match address {
            IpAddr::V4(address) => address.octets()[..3] == [224, 0, 0],
            IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
        },
        Function::IsLinkLocalUnicast => link_local,
        Function::IsGlobalUnicast => {
            let special = address.is_unspecified() || address.is_loopback() || address.is_multicast();
            !(special || link_local || address == IpAddr::V4(Ipv4Addr::BROADCAST))
        }
        _ => return None,
    })))
}
