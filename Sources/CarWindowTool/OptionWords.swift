/// The elements' messages name their properties. The user of this program knows its options, most of which have the
/// same names.
enum OptionWords {
  /// Options that set a property of both sinks, with the same name.
  static let sinkProperties = [
    "uri", "app-name", "app-id", "app-type", "language", "policy-updates", "connect-timeout", "encryption",
    "encryption-policy", "rpc-encryption", "certificate", "private-key", "ca-certificates",
  ]

  /// What is more than a name.
  private static let phrases = [
    ("The properties certificate and private-key", "The options --certificate and --private-key"),
    ("the properties certificate and private-key", "the options --certificate and --private-key"),
    ("app-type and language", "app-type and --language"),
    ("more pixels than max-width × max-height", "more pixels than --max-size allows"),
    ("raise these properties if", "raise it if"),
    ("or set haptics=none", "or use --no-haptics"),
  ]

  static func text(_ message: String) -> String {
    var text = message
    for (words, option) in phrases { text = text.replacing(words, with: option) }
    for name in sinkProperties {
      text = text.replacing("property \(name)", with: "option --\(name)")
      text = text.replacing(" \(name)=", with: " --\(name) ")
    }
    // Words with a hyphen are no English here.
    return text.split(separator: " ", omittingEmptySubsequences: false).map { word in
      let name = word.prefix { $0.isASCII && ($0.isLetter || $0 == "-") }
      return name.contains("-") && sinkProperties.contains(String(name)) ? "--\(word)" : String(word)
    }.joined(separator: " ")
  }
}
