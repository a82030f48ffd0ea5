struct Options {
  static let usage = """
    usage: sdl-car-window [options] [--] PROGRAM [ARGUMENT...]
    Runs PROGRAM on a screen of its own, and shows that on the head unit of a car; touches and keys go to the program.

      --uri URI        head unit, such as sdl://192.0.2.7 (default: the built-in one)
      --app-name NAME  name in the head unit's list of apps (default: the program's)
      --app-id ID      identifies the app in the head unit's policies, and in its certificate (default:
                       sdl-car-window-PROGRAM)
      --app-type TYPE  navigation, projection: what the head unit takes the app for (default navigation)
      --language LANG  language and country of the app, such as DE-DE (default EN-US)
      --policy-updates MODE
                       none, fetch: whether the policies that the head unit asks for are fetched (default none)
      --connect-timeout MS
                       longest wait for the head unit's answer (default 10000)
      --mirror DISPLAY show an existing display, such as :0; the program may be left out
      --inject-input   give touches and keys to the mirrored display
      --max-size WxH   largest size of the screen (default 1920x1080)
      --fps N          pictures per second at most, 1 to 120 (default 30)
      --no-sound       leave the program's sound to this computer
      --no-haptics     do not look for the program's buttons, for cars with a knob
      --preview        show the screen in a window here as well
      --record FILE    write picture and sound to FILE as well, as Matroska
      --encryption MODE
                       none, authenticate, authenticate-and-encrypt: picture and sound by TLS (default none)
      --certificate FILE, --private-key FILE
                       the app's certificate and its key, in PEM, which encryption needs
      --ca-certificates FILE
                       authorities, in PEM, one of which must have signed the head unit's certificate
      --encryption-policy MODE
                       require, prefer: whether picture and sound are sent in clear if the head unit does not encrypt
                       them (default require)
      --rpc-encryption MODE
                       none, prefer, require: the same for touches and all other messages (default prefer)
      --restart        start the program again whenever it ends, after a second
      --version        print the version, and exit
      --help           print this, and exit
    """

  var command: [String] = []
  /// Of the program, or of what is shown.
  var name = ""
  /// Of both sinks, by their names.
  var sinkProperties: [String: String] = [:]
  var display: String?
  var injectsInput = false
  var maximumSize: (width: Int, height: Int)?
  var frameRate = 30
  var hasSound = true
  var hasHaptics = true
  var hasPreview = false
  var recording: String?
  var restarts = false

  struct Invalid: Error {
    var text: String
  }

  init(arguments: [String]) throws(Invalid) {
    var rest = arguments[...]
    options: while let option = rest.first, option.hasPrefix("-") {
      rest.removeFirst()
      switch option {
      case "--": break options
      case "--inject-input": injectsInput = true
      case "--no-sound": hasSound = false
      case "--no-haptics": hasHaptics = false
      case "--preview": hasPreview = true
      case "--restart": restarts = true
      case let option
      where ["--mirror", "--max-size", "--fps", "--record"].contains(option)
        || OptionWords.sinkProperties.contains { option == "--\($0)" }:
        guard let value = rest.popFirst() else { throw Invalid(text: "\(option) needs a value") }
        switch option {
        case "--mirror": display = value
        case "--max-size": maximumSize = try Self.size(value)
        case "--fps":
          guard let rate = Int(value), (1...120).contains(rate) else {
            throw Invalid(text: "--fps: '\(value)' is no number from 1 to 120")
          }
          frameRate = rate
        case "--record": recording = value
        default: sinkProperties[String(option.dropFirst(2))] = value
        }
      default: throw Invalid(text: "unknown option \(option)")
      }
    }
    command = Array(rest)
    let program = command.first.map { $0.split(separator: "/").last.map(String.init) ?? $0 }
    name = program ?? "Desktop"
    for (option, initial) in [("app-name", name), ("app-id", Self.appID(of: name))]
    where sinkProperties[option, default: ""].isEmpty {
      sinkProperties[option] = initial
    }
    if display != nil { hasSound = hasSound && !command.isEmpty }
    guard !command.isEmpty || display != nil else { throw Invalid(text: "a program is missing") }
  }

  private static func size(_ text: String) throws(Invalid) -> (width: Int, height: Int) {
    let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
    guard sides.count == 2, sides.allSatisfy({ (64...8192).contains($0) }) else {
      throw Invalid(text: "--max-size: '\(text)' is not of the form 1280x720, with sides of 64 to 8192")
    }
    return (sides[0], sides[1])
  }

  /// The same for each start of a program, as policies and certificates know the app by it. Head units take 100
  /// characters.
  private static func appID(of name: String) -> String {
    let characters = name.lowercased().map { character in
      character.isASCII && (character.isLetter || character.isNumber || "._-".contains(character)) ? character : "-"
    }
    return String("sdl-car-window-\(String(characters))".prefix(100))
  }
}

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
