//! The functions and operators of the environment, with their overloads. The order of overloads is
//! upstream's: the first that fits decides the result's type.

use super::types::Type;

macro_rules! functions {
    ($($(#[$doc:meta])* $function:ident = $name:literal $overloads:expr;)*) => {
        /// A function or operator.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) enum Function { $($(#[$doc])* $function,)* }

        impl Function {
            /// The name by which cel-go calls it.
            pub(super) fn name(self) -> &'static str {
                match self { $(Self::$function => $name,)* }
            }
        }

        const DECLARATIONS: &[(&str, Function, &[&str])] =
            &[$(($name, Function::$function, $overloads),)*];
    };
}

/// `<`, `<=`, `>` and `>=` compare these; numbers of all kinds among each other.
const ORDERED: &[&str] = &[
    "bool(bool, bool) -> bool",
    "int64(int, int) -> bool",
    "int64_double(int, double) -> bool",
    "int64_uint64(int, uint) -> bool",
    "uint64(uint, uint) -> bool",
    "uint64_double(uint, double) -> bool",
    "uint64_int64(uint, int) -> bool",
    "double(double, double) -> bool",
    "double_int64(double, int) -> bool",
    "double_uint64(double, uint) -> bool",
    "string(string, string) -> bool",
    "bytes(bytes, bytes) -> bool",
    "timestamp(timestamp, timestamp) -> bool",
    "duration(duration, duration) -> bool",
];

// An overload is `id(argument types) -> result`; a leading dot marks a method, whose first
// argument is the receiver.
functions! {
    Conditional = "_?_:_" &["conditional(bool, A, A) -> A"];
    And = "_&&_" &["logical_and(bool, bool) -> bool"];
    Or = "_||_" &["logical_or(bool, bool) -> bool"];
    Not = "!_" &["logical_not(bool) -> bool"];
    NotStrictlyFalse = "@not_strictly_false" &["not_strictly_false(bool) -> bool"];
    Equals = "_==_" &["equals(A, A) -> bool"];
    NotEquals = "_!=_" &["not_equals(A, A) -> bool"];
    Add = "_+_" &[
        "add_bytes(bytes, bytes) -> bytes", "add_double(double, double) -> double",
        "add_duration_duration(duration, duration) -> duration",
        "add_duration_timestamp(duration, timestamp) -> timestamp",
        "add_timestamp_duration(timestamp, duration) -> timestamp",
        "add_int64(int, int) -> int", "add_list(list(A), list(A)) -> list(A)",
        "add_string(string, string) -> string", "add_uint64(uint, uint) -> uint"];
    Divide = "_/_" &["double(double, double) -> double", "int64(int, int) -> int", "uint64(uint, uint) -> uint"];
    Modulo = "_%_" &["int64(int, int) -> int", "uint64(uint, uint) -> uint"];
    Multiply = "_*_" &["double(double, double) -> double", "int64(int, int) -> int", "uint64(uint, uint) -> uint"];
    Negate = "-_" &["double(double) -> double", "int64(int) -> int"];
    Subtract = "_-_" &[
        "double(double, double) -> double", "duration_duration(duration, duration) -> duration",
        "int64(int, int) -> int", "timestamp_duration(timestamp, duration) -> timestamp",
        "timestamp_timestamp(timestamp, timestamp) -> duration", "uint64(uint, uint) -> uint"];
    Less = "_<_" ORDERED;
    LessEquals = "_<=_" ORDERED;
    Greater = "_>_" ORDERED;
    GreaterEquals = "_>=_" ORDERED;
    Index = "_[_]" &[
        "index_list(list(A), int) -> A", "index_map(map(A, B), A) -> B",
        "optional_list_index_int(optional(list(A)), int) -> optional(A)",
        "optional_map_index_value(optional(map(A, B)), A) -> optional(B)"];
    OptionalIndex = "_[?_]" &[
        "list_optindex_optional_int(list(A), int) -> optional(A)",
        "optional_list_optindex_optional_int(optional(list(A)), int) -> optional(A)",
        "map_optindex_optional_value(map(A, B), A) -> optional(B)",
        "optional_map_optindex_optional_value(optional(map(A, B)), A) -> optional(B)"];
    OptionalSelect = "_?._" &["select_optional_field(dyn, string) -> optional(A)"];
    In = "@in" &["in_list(A, list(A)) -> bool", "in_map(A, map(A, B)) -> bool"];
    Size = "size" &[
        "size_bytes(bytes) -> int", ".bytes_size(bytes) -> int", "size_list(list(A)) -> int",
        ".list_size(list(A)) -> int", "size_map(map(A, B)) -> int", ".map_size(map(A, B)) -> int",
        "size_string(string) -> int", ".string_size(string) -> int"];
    TypeOf = "type" &["type(A) -> type(A)"];
    ToBool = "bool" &["bool_to_bool(bool) -> bool", "string_to_bool(string) -> bool"];
    ToBytes = "bytes" &["bytes_to_bytes(bytes) -> bytes", "string_to_bytes(string) -> bytes"];
    ToDouble = "double" &[
        "double_to_double(double) -> double", "int64_to_double(int) -> double",
        "string_to_double(string) -> double", "uint64_to_double(uint) -> double"];
    ToDuration = "duration" &[
        "duration_to_duration(duration) -> duration", "string_to_duration(string) -> duration"];
    ToDyn = "dyn" &["to_dyn(A) -> dyn"];
    ToInt = "int" &[
        "int64_to_int64(int) -> int", "double_to_int64(double) -> int", "duration_to_int64(duration) -> int",
        "string_to_int64(string) -> int", "timestamp_to_int64(timestamp) -> int",
        "uint64_to_int64(uint) -> int"];
    ToString = "string" &[
        "string_to_string(string) -> string", "bool_to_string(bool) -> string",
        "bytes_to_string(bytes) -> string", "double_to_string(double) -> string",
        "duration_to_string(duration) -> string", "int64_to_string(int) -> string",
        "timestamp_to_string(timestamp) -> string", "uint64_to_string(uint) -> string",
        "ip_to_string(ip) -> string", "cidr_to_string(cidr) -> string"];
    ToTimestamp = "timestamp" &[
        "timestamp_to_timestamp(timestamp) -> timestamp", "int64_to_timestamp(int) -> timestamp",
        "string_to_timestamp(string) -> timestamp"];
    ToUint = "uint" &[
        "uint64_to_uint64(uint) -> uint", "double_to_uint64(double) -> uint", "int64_to_uint64(int) -> uint",
        "string_to_uint64(string) -> uint"];
    Contains = "contains" &[".contains_string(string, string) -> bool"];
    EndsWith = "endsWith" &[".ends_with_string(string, string) -> bool"];
    StartsWith = "startsWith" &[".starts_with_string(string, string) -> bool"];
    Matches = "matches" &["matches(string, string) -> bool", ".matches_string(string, string) -> bool"];

    GetFullYear = "getFullYear" &[
        ".timestamp_to_year(timestamp) -> int", ".timestamp_to_year_with_tz(timestamp, string) -> int"];
    GetMonth = "getMonth" &[
        ".timestamp_to_month(timestamp) -> int", ".timestamp_to_month_with_tz(timestamp, string) -> int"];
    GetDayOfYear = "getDayOfYear" &[
        ".timestamp_to_day_of_year(timestamp) -> int", ".timestamp_to_day_of_year_with_tz(timestamp, string) -> int"];
    GetDayOfMonth = "getDayOfMonth" &[
        ".timestamp_to_day_of_month(timestamp) -> int", ".timestamp_to_day_of_month_with_tz(timestamp, string) -> int"];
    GetDate = "getDate" &[
        ".timestamp_to_day_of_month_1_based(timestamp) -> int", ".timestamp_to_day_of_month_1_based_with_tz(timestamp, string) -> int"];
    GetDayOfWeek = "getDayOfWeek" &[
        ".timestamp_to_day_of_week(timestamp) -> int", ".timestamp_to_day_of_week_with_tz(timestamp, string) -> int"];
    GetHours = "getHours" &[
        ".timestamp_to_hours(timestamp) -> int", ".timestamp_to_hours_with_tz(timestamp, string) -> int",
        ".duration_to_hours(duration) -> int"];
    GetMinutes = "getMinutes" &[
        ".timestamp_to_minutes(timestamp) -> int", ".timestamp_to_minutes_with_tz(timestamp, string) -> int",
        ".duration_to_minutes(duration) -> int"];
    GetSeconds = "getSeconds" &[
        ".timestamp_to_seconds(timestamp) -> int", ".timestamp_to_seconds_tz(timestamp, string) -> int",
        ".duration_to_seconds(duration) -> int"];
    GetMilliseconds = "getMilliseconds" &[
        ".timestamp_to_milliseconds(timestamp) -> int", ".timestamp_to_milliseconds_with_tz(timestamp, string) -> int",
        ".duration_to_milliseconds(duration) -> int"];

    OptionalOf = "optional.of" &["optional_of(A) -> optional(A)"];
    OptionalOfNonZero = "optional.ofNonZeroValue" &["optional_ofNonZeroValue(A) -> optional(A)"];
    OptionalNone = "optional.none" &["optional_none() -> optional(A)"];
    Value = "value" &[".optional_value(optional(A)) -> A"];
    HasValue = "hasValue" &[".optional_hasValue(optional(A)) -> bool"];
    OptionalOr = "or" &[".optional_or_optional(optional(A), optional(A)) -> optional(A)"];
    OptionalOrValue = "orValue" &[".optional_orValue_value(optional(A), A) -> A"];
    Last = "last" &[".list_last(list(A)) -> optional(A)"];
    First = "first" &[".list_first(list(A)) -> optional(A)"];
    OptionalUnwrap = "optional.unwrap" &["optional_unwrap(list(optional(A))) -> list(A)"];
    UnwrapOpt = "unwrapOpt" &[".optional_unwrapOpt(list(optional(A))) -> list(A)"];
    MapInsert = "cel.@mapInsert" &[
        "@mapInsert_map_key_value(map(A, B), A, B) -> map(A, B)",
        "@mapInsert_map_map(map(A, B), map(A, B)) -> map(A, B)"];

    Find = "find" &[".string_find_string(string, string) -> string"];
    FindAll = "findAll" &[
        ".string_find_all_string(string, string) -> list(string)",
        ".string_find_all_string_int(string, string, int) -> list(string)"];

    CharAt = "charAt" &[".string_char_at_int(string, int) -> string"];
    IndexOf = "indexOf" &[
        ".string_index_of_string(string, string) -> int", ".string_index_of_string_int(string, string, int) -> int",
        ".list_a_index_of_int(list(A), A) -> int"];
    LastIndexOf = "lastIndexOf" &[
        ".string_last_index_of_string(string, string) -> int",
        ".string_last_index_of_string_int(string, string, int) -> int",
        ".list_a_last_index_of_int(list(A), A) -> int"];
    LowerAscii = "lowerAscii" &[".string_lower_ascii(string) -> string"];
    UpperAscii = "upperAscii" &[".string_upper_ascii(string) -> string"];
    Replace = "replace" &[
        ".string_replace_string_string(string, string, string) -> string",
        ".string_replace_string_string_int(string, string, string, int) -> string"];
    Split = "split" &[
        ".string_split_string(string, string) -> list(string)",
        ".string_split_string_int(string, string, int) -> list(string)"];
    Substring = "substring" &[
        ".string_substring_int(string, int) -> string", ".string_substring_int_int(string, int, int) -> string"];
    Trim = "trim" &[".string_trim(string) -> string"];
    Format = "format" &[".string_format(string, list(dyn)) -> string"];
    Quote = "strings.quote" &["strings_quote(string) -> string"];
    Join = "join" &[".list_join(list(string)) -> string", ".list_join_string(list(string), string) -> string"];

    IsSorted = "isSorted" &[
        ".list_int_is_sorted_bool(list(int)) -> bool", ".list_uint_is_sorted_bool(list(uint)) -> bool",
        ".list_double_is_sorted_bool(list(double)) -> bool", ".list_bool_is_sorted_bool(list(bool)) -> bool",
        ".list_duration_is_sorted_bool(list(duration)) -> bool",
        ".list_timestamp_is_sorted_bool(list(timestamp)) -> bool",
        ".list_string_is_sorted_bool(list(string)) -> bool", ".list_bytes_is_sorted_bool(list(bytes)) -> bool"];
    Sum = "sum" &[
        ".list_int_sum_int(list(int)) -> int", ".list_uint_sum_uint(list(uint)) -> uint",
        ".list_double_sum_double(list(double)) -> double", ".list_duration_sum_duration(list(duration)) -> duration"];
    Max = "max" &[
        ".list_int_max_int(list(int)) -> int", ".list_uint_max_uint(list(uint)) -> uint",
        ".list_double_max_double(list(double)) -> double", ".list_bool_max_bool(list(bool)) -> bool",
        ".list_duration_max_duration(list(duration)) -> duration",
        ".list_timestamp_max_timestamp(list(timestamp)) -> timestamp",
        ".list_string_max_string(list(string)) -> string", ".list_bytes_max_bytes(list(bytes)) -> bytes"];
    Min = "min" &[
        ".list_int_min_int(list(int)) -> int", ".list_uint_min_uint(list(uint)) -> uint",
        ".list_double_min_double(list(double)) -> double", ".list_bool_min_bool(list(bool)) -> bool",
        ".list_duration_min_duration(list(duration)) -> duration",
        ".list_timestamp_min_timestamp(list(timestamp)) -> timestamp",
        ".list_string_min_string(list(string)) -> string", ".list_bytes_min_bytes(list(bytes)) -> bytes"];
    Includes = "includes" &[".list_includes_dyn_dyn(dyn, dyn) -> bool"];
    Slice = "slice" &[".list_slice(list(A), int, int) -> list(A)"];
    Flatten = "flatten" &[
        ".list_flatten(list(list(A))) -> list(A)", ".list_flatten_int(list(dyn), int) -> list(dyn)"];
    Sort = "sort" &[
        ".list_int_sort(list(int)) -> list(int)", ".list_uint_sort(list(uint)) -> list(uint)",
        ".list_double_sort(list(double)) -> list(double)", ".list_bool_sort(list(bool)) -> list(bool)",
        ".list_google.protobuf.Duration_sort(list(duration)) -> list(duration)",
        ".list_google.protobuf.Timestamp_sort(list(timestamp)) -> list(timestamp)",
        ".list_string_sort(list(string)) -> list(string)", ".list_bytes_sort(list(bytes)) -> list(bytes)"];
    SortByKeys = "@sortByAssociatedKeys" &[
        ".list_int_sortByAssociatedKeys(list(A), list(int)) -> list(A)",
        ".list_uint_sortByAssociatedKeys(list(A), list(uint)) -> list(A)",
        ".list_double_sortByAssociatedKeys(list(A), list(double)) -> list(A)",
        ".list_bool_sortByAssociatedKeys(list(A), list(bool)) -> list(A)",
        ".list_google.protobuf.Duration_sortByAssociatedKeys(list(A), list(duration)) -> list(A)",
        ".list_google.protobuf.Timestamp_sortByAssociatedKeys(list(A), list(timestamp)) -> list(A)",
        ".list_string_sortByAssociatedKeys(list(A), list(string)) -> list(A)",
        ".list_bytes_sortByAssociatedKeys(list(A), list(bytes)) -> list(A)"];
    Range = "lists.range" &["lists_range(int) -> list(int)"];
    Reverse = "reverse" &[".list_reverse(list(A)) -> list(A)"];
    Distinct = "distinct" &[".list_distinct(list(A)) -> list(A)"];
    SetsContains = "sets.contains" &["list_sets_contains_list(list(A), list(A)) -> bool"];
    SetsEquivalent = "sets.equivalent" &["list_sets_equivalent_list(list(A), list(A)) -> bool"];
    SetsIntersects = "sets.intersects" &["list_sets_intersects_list(list(A), list(A)) -> bool"];

    Quantity = "quantity" &["string_to_quantity(string) -> quantity"];
    IsQuantity = "isQuantity" &["is_quantity_string(string) -> bool"];
    Sign = "sign" &["quantity_sign(quantity) -> int"];
    IsGreaterThan = "isGreaterThan" &[
        ".quantity_is_greater_than(quantity, quantity) -> bool", ".semver_is_greater_than(semver, semver) -> bool"];
    IsLessThan = "isLessThan" &[
        ".quantity_is_less_than(quantity, quantity) -> bool", ".semver_is_less_than(semver, semver) -> bool"];
    CompareTo = "compareTo" &[
        ".quantity_compare_to(quantity, quantity) -> int", ".semver_compare_to(semver, semver) -> int"];
    AsApproximateFloat = "asApproximateFloat" &[".quantity_get_float(quantity) -> double"];
    AsInteger = "asInteger" &[".quantity_get_int(quantity) -> int"];
    IsInteger = "isInteger" &[".quantity_is_integer(quantity) -> bool"];
    QuantityAdd = "add" &[
        ".quantity_add(quantity, quantity) -> quantity", ".quantity_add_int(quantity, int) -> quantity"];
    QuantitySub = "sub" &[
        ".quantity_sub(quantity, quantity) -> quantity", ".quantity_sub_int(quantity, int) -> quantity"];
    Semver = "semver" &["string_to_semver(string) -> semver", "string_bool_to_semver(string, bool) -> semver"];
    IsSemver = "isSemver" &["is_semver_string(string) -> bool", "is_semver_string_bool(string, bool) -> bool"];
    Major = "major" &[".semver_major(semver) -> int"];
    Minor = "minor" &[".semver_minor(semver) -> int"];
    Patch = "patch" &[".semver_patch(semver) -> int"];

    Ip = "ip" &["string_to_ip(string) -> ip", ".cidr_ip(cidr) -> ip"];
    IsIp = "isIP" &["is_ip(string) -> bool"];
    IpIsCanonical = "ip.isCanonical" &["ip_is_canonical(string) -> bool"];
    Family = "family" &[".ip_family(ip) -> int"];
    IsUnspecified = "isUnspecified" &[".ip_is_unspecified(ip) -> bool"];
    IsLoopback = "isLoopback" &[".ip_is_loopback(ip) -> bool"];
    IsLinkLocalMulticast = "isLinkLocalMulticast" &[".ip_is_link_local_multicast(ip) -> bool"];
    IsLinkLocalUnicast = "isLinkLocalUnicast" &[".ip_is_link_local_unicast(ip) -> bool"];
    IsGlobalUnicast = "isGlobalUnicast" &[".ip_is_global_unicast(ip) -> bool"];
    Cidr = "cidr" &["string_to_cidr(string) -> cidr"];
    IsCidr = "isCIDR" &["is_cidr(string) -> bool"];
    ContainsIp = "containsIP" &[
        ".cidr_contains_ip_string(cidr, string) -> bool", ".cidr_contains_ip_ip(cidr, ip) -> bool"];
    ContainsCidr = "containsCIDR" &[
        ".cidr_contains_cidr_string(cidr, string) -> bool", ".cidr_contains_cidr(cidr, cidr) -> bool"];
    PrefixLength = "prefixLength" &[".cidr_prefix_length(cidr) -> int"];
    Masked = "masked" &[".cidr_masked(cidr) -> cidr"];

    Url = "url" &["string_to_url(string) -> url"];
    IsUrl = "isURL" &["is_url_string(string) -> bool"];
    GetScheme = "getScheme" &[".url_get_scheme(url) -> string"];
    GetHost = "getHost" &[".url_get_host(url) -> string"];
    GetHostname = "getHostname" &[".url_get_hostname(url) -> string"];
    GetPort = "getPort" &[".url_get_port(url) -> string"];
    GetEscapedPath = "getEscapedPath" &[".url_get_escaped_path(url) -> string"];
    GetQuery = "getQuery" &[".url_get_query(url) -> map(string, list(string))"];

    FormatNamed = "format.named" &["format-named(string) -> optional(namedformat)"];
    FormatDns1123Label = "format.dns1123Label" &["format.dns1123Label() -> namedformat"];
    FormatDns1123Subdomain = "format.dns1123Subdomain" &["format.dns1123Subdomain() -> namedformat"];
    FormatDns1035Label = "format.dns1035Label" &["format.dns1035Label() -> namedformat"];
    FormatQualifiedName = "format.qualifiedName" &["format.qualifiedName() -> namedformat"];
    FormatDns1123LabelPrefix = "format.dns1123LabelPrefix" &["format.dns1123LabelPrefix() -> namedformat"];
    FormatDns1123SubdomainPrefix = "format.dns1123SubdomainPrefix" &["format.dns1123SubdomainPrefix() -> namedformat"];
    FormatDns1035LabelPrefix = "format.dns1035LabelPrefix" &["format.dns1035LabelPrefix() -> namedformat"];
    FormatLabelValue = "format.labelValue" &["format.labelValue() -> namedformat"];
    FormatUri = "format.uri" &["format.uri() -> namedformat"];
    FormatUuid = "format.uuid" &["format.uuid() -> namedformat"];
    FormatByte = "format.byte" &["format.byte() -> namedformat"];
    FormatDate = "format.date" &["format.date() -> namedformat"];
    FormatDatetime = "format.datetime" &["format.datetime() -> namedformat"];
    Validate = "validate" &[".format-validate(namedformat, string) -> optional(list(string))"];

    // There is no variable of these types, so that no call ever succeeds.
    AuthorizerPath = "path" &[".authorizer_path(authorizer, string) -> pathcheck"];
    AuthorizerGroup = "group" &[".authorizer_group(authorizer, string) -> groupcheck"];
    ServiceAccount = "serviceAccount" &[".authorizer_serviceaccount(authorizer, string, string) -> authorizer"];
    Resource = "resource" &[".groupcheck_resource(groupcheck, string) -> resourcecheck"];
    Subresource = "subresource" &[".resourcecheck_subresource(resourcecheck, string) -> resourcecheck"];
    Namespace = "namespace" &[".resourcecheck_namespace(resourcecheck, string) -> resourcecheck"];
    ResourceName = "name" &[".resourcecheck_name(resourcecheck, string) -> resourcecheck"];
    FieldSelector = "fieldSelector" &[".authorizer_fieldselector(resourcecheck, string) -> resourcecheck"];
    LabelSelector = "labelSelector" &[".authorizer_labelselector(resourcecheck, string) -> resourcecheck"];
    Check = "check" &[
        ".pathcheck_check(pathcheck, string) -> decision", ".resourcecheck_check(resourcecheck, string) -> decision"];
    Errored = "errored" &[".decision_errored(decision) -> bool"];
    DecisionError = "error" &[".decision_error(decision) -> string"];
    Allowed = "allowed" &[".decision_allowed(decision) -> bool"];
    Reason = "reason" &[".decision_reason(decision) -> string"];
}

/// One signature of a function.
#[derive(Clone, Debug)]
pub(super) struct Overload {
    /// cel-go's name for it, by which its cost is counted. Unique for what has a cost of its own.
    pub(super) id: &'static str,
    /// Whether it is called on its first argument.
    pub(super) method: bool,
    pub(super) args: Box<[Type]>,
    pub(super) result: Type,
}

/// A function with its signatures.
#[derive(Clone, Debug)]
pub(super) struct Declaration {
    pub(super) function: Function,
    pub(super) overloads: Box<[Overload]>,
}

/// Releases before 1.37 count the text that `startsWith` and `endsWith` are called on, not the one that
/// is looked for, and nothing for `matches` as a function; `or` and `orValue` hand on what is no
/// optional; `lists.range` takes what is below zero for zero; `duration` is declared for integers, and
/// fails on them.
pub(super) fn be_as_older_releases(declaration: &mut Declaration) {
    if declaration.function == Function::ToDuration {
        let overloads = std::mem::take(&mut declaration.overloads).into_iter();
        declaration.overloads = overloads.chain([overload(OLDER_DURATION_OF_INT)]).collect();
    }
    for overload in &mut declaration.overloads {
        overload.id = match overload.id {
            "starts_with_string" => OLDER_STARTS_WITH,
            "ends_with_string" => OLDER_ENDS_WITH,
            "matches" => OLDER_MATCHES,
            "lists_range" => OLDER_RANGE,
            "optional_or_optional" => OLDER_OR,
            "optional_orValue_value" => OLDER_OR_VALUE,
            id => id,
        };
    }
}

const OLDER_DURATION_OF_INT: &str = "int64_to_duration(int) -> duration";

/// The names of signatures that older releases have in their own way.
pub(super) const OLDER_STARTS_WITH: &str = "starts_with_string before 1.37";
pub(super) const OLDER_ENDS_WITH: &str = "ends_with_string before 1.37";
pub(super) const OLDER_MATCHES: &str = "matches before 1.37";
pub(super) const OLDER_RANGE: &str = "lists_range before 1.37";
pub(super) const OLDER_OR: &str = "optional_or_optional before 1.37";
pub(super) const OLDER_OR_VALUE: &str = "optional_orValue_value before 1.37";

/// Every function but those that `hidden` names.
pub(super) fn declarations(
    hidden: impl Fn(Function) -> bool,
) -> impl Iterator<Item = (&'static str, Declaration)> {
    DECLARATIONS.iter().filter(move |(_, function, _)| !hidden(*function)).map(
        |(name, function, overloads)| {
            let overloads = overloads.iter().map(|text| overload(text)).collect();
            (*name, Declaration { function: *function, overloads })
        },
    )
}

fn overload(text: &'static str) -> Overload {
    let (id, rest) = text.split_once('(').unwrap_or((text, ""));
    let (args, result) = rest.rsplit_once(") -> ").unwrap_or((rest, "dyn"));
    let mut types = Vec::new();
    let mut start = 0;
    let mut depth = 0_i32;
    for (at, c) in args.char_indices().chain([(args.len(), ',')]) {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if c == ',' && depth == 0 && at > start {
            types.push(Type::parse(&args[start..at]));
            start = at + 1;
        }
    }
    Overload {
        id: id.trim_start_matches('.'),
        method: id.starts_with('.'),
        args: types.into(),
        result: Type::parse(result),
    }
}
