import SDLMessages

/// The result of a request whose parameters SDL Core refuses.
struct RequestRefusal: Error {
  let code: ResultCode
  /// For the app's developer.
  let info: String

  init(_ code: ResultCode, _ info: String) {
    self.code = code
    self.info = info
  }
}

/// The entries of an app's menus, as far as the driver can choose them. They are not shown.
struct AppMenu: Sendable {
  /// The most entries of each kind; SDL Core has no limit, but an app must not use up the memory.
  static let maximumCount = 2000
  /// The most voice texts of all commands together.
  private static let maximumSpokenCount = 4000

  /// A command (AddCommand).
  struct Command: Equatable, Sendable {
    /// The text in the menu, or else the first voice text.
    let name: String
    /// Whether it is a voice command only (`triggerSource` VR).
    let isSpoken: Bool
    /// The voice texts, in lower case.
    var spoken: Set<String> = []
  }

  /// A submenu, of which only the id is known.
  struct SubMenu: Sendable {}

  var commands: [Int: Command] = [:]
  /// The voice texts of all commands, in lower case. Each belongs to one command.
  private var spoken: Set<String> = []
  var subMenus: [Int: SubMenu] = [:]
  /// The ids of each set's choices.
  var choiceSets: [Int: Set<Int>] = [:]

  /// Adds an entry whose id is not there yet.
  mutating func add<Entry>(
    _ id: Int, _ entry: Entry, to entries: WritableKeyPath<AppMenu, [Int: Entry]>
  ) throws(RequestRefusal) {
    guard self[keyPath: entries].count < Self.maximumCount else {
      throw RequestRefusal(.outOfMemory, "There are \(Self.maximumCount) entries already")
    }
    self[keyPath: entries][id] = entry
    if let command = entry as? Command { spoken.formUnion(command.spoken) }
  }

  /// - Returns: false if there is no such entry.
  mutating func remove<Entry>(_ id: Int, from entries: WritableKeyPath<AppMenu, [Int: Entry]>) -> Bool {
    guard let entry = self[keyPath: entries].removeValue(forKey: id) else { return false }
    if let command = entry as? Command { spoken.subtract(command.spoken) }
    return true
  }

  /// The command that the driver means: by its id, else the one with the lowest id of those with this name, whatever
  /// its case.
  func command(_ text: String) -> (id: Int, command: Command)? {
    if let id = Int(text), let command = commands[id] { return (id, command) }
    let name = text.lowercased()
    return commands.filter { $0.value.name.lowercased() == name }.min { $0.key < $1.key }
      .map { (id: $0.key, command: $0.value) }
  }
}

extension AppMenu {
  /// The command in the parameters of AddCommand, which needs a text for the menu, or a voice text that no other
  /// command has.
  func command(in parameters: JSONObject) throws(RequestRefusal) -> Command {
    try checkParent(parameters["menuParams"]?.object)
    let texts = Set((parameters["vrCommands"]?.array ?? []).compactMap { $0.string?.lowercased() })
    guard texts.isDisjoint(with: spoken) else {
      throw RequestRefusal(.duplicateName, "Another command has one of these vrCommands")
    }
    guard spoken.count + texts.count <= Self.maximumSpokenCount else {
      throw RequestRefusal(.outOfMemory, "The commands have \(spoken.count) vrCommands already")
    }
    let name = parameters["menuParams"]?.object?["menuName"]?.string ?? parameters["vrCommands"]?.array?.first?.string
    guard let name else { throw RequestRefusal(.invalidData, "menuParams or vrCommands is needed") }
    // As the driver types it: the words of a command are separated by one space.
    let label = name.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return Command(name: label, isSpoken: parameters["menuParams"] == nil, spoken: texts)
  }

  /// The submenu in the parameters of AddSubMenu.
  func subMenu(in parameters: JSONObject) throws(RequestRefusal) -> SubMenu {
    try checkParent(parameters)
    return SubMenu()
  }

  /// 0 is the menu of the app itself.
  private func checkParent(_ parameters: JSONObject?) throws(RequestRefusal) {
    guard let parent = parameters?["parentID"]?.integer, parent != 0, subMenus[parent] == nil else { return }
    throw RequestRefusal(.invalidID, "There is no submenu with the parentID \(parent)")
  }

  /// The ids of the choices in the parameters of CreateInteractionChoiceSet. Either all of them have voice texts, all
  /// different, or none has.
  static func choices(in parameters: JSONObject) throws(RequestRefusal) -> Set<Int> {
    let choices = (parameters["choiceSet"]?.array ?? []).compactMap(\.object)
    let ids = choices.compactMap { $0["choiceID"]?.integer }
    guard Set(ids).count == choices.count else {
      throw RequestRefusal(.invalidID, "Two choices have the same choiceID")
    }
    var taken: Set<String> = []
    for choice in choices {
      let spoken = Set((choice["vrCommands"]?.array ?? []).compactMap { $0.string?.lowercased() })
      guard taken.isDisjoint(with: spoken) else {
        throw RequestRefusal(.duplicateName, "Two choices have one of the vrCommands in common")
      }
      taken.formUnion(spoken)
    }
    let spokenCount = choices.count { $0["vrCommands"] != nil }
    guard spokenCount == 0 || spokenCount == choices.count else {
      throw RequestRefusal(.invalidData, "\(spokenCount) of \(choices.count) choices have vrCommands; all or none may")
    }
    return Set(ids)
  }

  /// The ids of the choices of PerformInteraction, from sets that have been created.
  func choices(ofSets ids: [Int]) throws(RequestRefusal) -> Set<Int> {
    var choices: Set<Int> = []
    for id in ids {
      guard let set = choiceSets[id] else {
        throw RequestRefusal(.invalidID, "There is no interactionChoiceSetID \(id)")
      }
      choices.formUnion(set)
    }
    return choices
  }
}
