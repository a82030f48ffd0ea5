import SDLMessages

/// The result of a request whose parameters SDL Core refuses.
struct RequestRefusal: Error {
  let code: ResultCode
}

/// What an app has added to its menus, as far as the driver can choose it. Nothing shows it.
struct AppMenu: Sendable {
  /// Of each kind; SDL Core has no limit, but an app must not take all memory.
  static let maximumCount = 2000
  /// Choices of a set (`choiceSet` of the RPC specification).
  private static let maximumChoiceCount = 100
  /// In Unicode scalars (`menuName` of the RPC specification).
  private static let longestName = 500

  /// A command (AddCommand).
  struct Command: Equatable, Sendable {
    /// What the driver sees in the menu, or the first of the texts to be said.
    let name: String
    /// Whether it can only be said (`triggerSource` VR).
    let isSpoken: Bool
  }

  /// A submenu, of which only the id is known.
  struct SubMenu: Sendable {}

  /// By their ids, as everything here.
  var commands: [Int: Command] = [:]
  var subMenus: [Int: SubMenu] = [:]
  /// The ids of each set's choices.
  var choiceSets: [Int: Set<Int>] = [:]

  /// Adds an entry, whose id SDL Core refuses if it is there already.
  mutating func add<Entry>(
    _ id: Int, _ entry: Entry, to entries: WritableKeyPath<AppMenu, [Int: Entry]>
  ) -> ResultCode {
    guard self[keyPath: entries][id] == nil else { return .invalidID }
    guard self[keyPath: entries].count < Self.maximumCount else { return .outOfMemory }
    self[keyPath: entries][id] = entry
    return .success
  }

  /// - Returns: false if there is no such entry.
  mutating func remove<Entry>(_ id: Int, from entries: WritableKeyPath<AppMenu, [Int: Entry]>) -> Bool {
    self[keyPath: entries].removeValue(forKey: id) != nil
  }

  /// The command that the driver means: by its id, else the one with the lowest id of those with this name. Capital and
  /// small letters are the same.
  func command(_ text: String) -> (id: Int, command: Command)? {
    if let id = Int(text), let command = commands[id] { return (id, command) }
    let name = text.lowercased()
    return commands.filter { $0.value.name.lowercased() == name }.min { $0.key < $1.key }
      .map { (id: $0.key, command: $0.value) }
  }
}

extension AppMenu {
  /// The command in the parameters of AddCommand, which needs a text for the menu, or one to be said.
  static func command(in parameters: JSONObject) throws(RequestRefusal) -> Command {
    let spoken = parameters["vrCommands"]?.array?.first?.string
    guard let name = parameters["menuParams"]?.object?["menuName"]?.string ?? spoken,
      name.unicodeScalars.count <= longestName
    else { throw RequestRefusal(code: .invalidData) }
    // As the driver types it: the words of a command are separated by one space.
    let words = name.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return Command(name: words, isSpoken: parameters["menuParams"] == nil)
  }

  /// The ids of the choices in the parameters of CreateInteractionChoiceSet.
  static func choices(in parameters: JSONObject) throws(RequestRefusal) -> Set<Int> {
    let choices = parameters["choiceSet"]?.array ?? []
    let ids = choices.compactMap { $0.object?["choiceID"]?.integer }.filter { (0...65535).contains($0) }
    guard (1...maximumChoiceCount).contains(choices.count), ids.count == choices.count else {
      throw RequestRefusal(code: .invalidData)
    }
    guard Set(ids).count == ids.count else { throw RequestRefusal(code: .invalidID) }
    return Set(ids)
  }

  /// The ids of the choices of PerformInteraction, from sets that have been created.
  func choices(ofSets ids: [Int]) throws(RequestRefusal) -> Set<Int> {
    var choices: Set<Int> = []
    for id in ids {
      guard let set = choiceSets[id] else { throw RequestRefusal(code: .invalidID) }
      choices.formUnion(set)
    }
    return choices
  }
}
