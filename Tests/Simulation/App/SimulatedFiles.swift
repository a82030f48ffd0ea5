import SDLApp

/// What an application knows of its files on the head unit, by its requests and their answers alone.
struct SimulatedFiles {
  /// AppDirectoryQuota of SDL Core, in bytes.
  private static let quota = 104_857_600
  /// Disks give a file no more than this beyond its size.
  private static let mostSlack = 4096

  private var sizes: [String: Int] = [:]
  /// A request about files was not answered, or part of a file refused: nobody knows what has become of it.
  private var isUncertain = false
  /// Of the icon that the session itself sends, nothing is known.
  let hasIcon: Bool

  init(hasIcon: Bool) { self.hasIcon = hasIcon }

  /// The answer to a request about files, in their order.
  ///
  /// - Returns: what is wrong with it.
  mutating func take(_ answer: RPCMessage, to request: RequestVocabulary.Request) -> String? {
    let name = request.parameters["syncFileName"]?.string ?? ""
    let isDone = answer.parameters["success"]?.bool == true
    let isUnanswered = answer.parameters["resultCode"]?.string == ResultCode.timedOut.rawValue
    if [.putFile, .deleteFile].contains(request.function), !isDone, isUnanswered || request.function == .putFile {
      isUncertain = true
    }
    guard !isUncertain else { return nil }
    switch request.function {
    case .putFile where isDone: sizes[name] = request.bulk.count
    case .deleteFile where isDone:
      guard sizes.removeValue(forKey: name) != nil else { return "\(name) was deleted, but not there" }
    case .listFiles where isDone:
      let names = Set(answer.parameters["filenames"]?.array?.compactMap(\.string) ?? []).subtracting(["app-icon.png"])
      guard names == Set(sizes.keys) else { return "files \(names.sorted()) instead of \(sizes.keys.sorted())" }
    default: return nil
    }
    guard isDone, !hasIcon, let space = answer.parameters["spaceAvailable"]?.integer else { return nil }
    let most = Self.quota - sizes.values.reduce(0, +)
    let least = most - sizes.count * Self.mostSlack
    return (least...most).contains(space) ? nil : "\(space) bytes are free, \(least) to \(most) were to be expected"
  }
}
