import SDLMessages

package enum AppCapabilityFault: Equatable, Sendable, CustomStringConvertible {
  /// The registration agreed on a version that has no such notification.
  case version(RPCVersion)
  /// No entry at all: an app without supported sizes must not send it.
  case empty
  /// The root has members besides the list; they belong into the list's entries.
  case rootNotEmpty
  /// The entry of this index, from 0, repeats an earlier one.
  case duplicate(index: Int)
  /// The head unit has never offered the entry of this index.
  case notOffered(index: Int, VideoSize?)

  /// One phrase that follows the name of the notification.
  package var description: String {
    switch self {
    case .version(let version): "needs RPC 7.1, but \(version) was agreed on"
    case .empty: "without any capability"
    case .rootNotEmpty: "with more than additional capabilities"
    case .duplicate(let index): "with entry \(index) like an earlier one"
    case .notOffered(let index, let size):
      "with entry \(index), \(size.map { "\($0)" } ?? "without a size"), which was never offered"
    }
  }
}

/// The rules of SDL-0332 for an app's list of formats.
enum AppCapabilityRules {
  /// The members by which SDL-0332 tells entries apart.
  private struct Identity: Hashable {
    var resolution: VideoSize?
    var diagonal: Double?
    var pixelPerInch: Double?
    var scale: Double

    init(_ entry: VideoStreamingCapability) {
      resolution = entry.preferredResolution
      diagonal = entry.diagonalScreenSize
      pixelPerInch = entry.pixelPerInch
      scale = entry.scale ?? 1
    }
  }

  /// - Parameters:
  ///   - reported: the capability in the app's notification.
  ///   - offered: the capabilities that the app may know.
  static func faults(
    of reported: VideoStreamingCapability, offered: [VideoStreamingCapability], rpcVersion: RPCVersion
  ) -> [AppCapabilityFault] {
    var faults: [AppCapabilityFault] = []
    if rpcVersion < RPCVersion(7, 1) { faults.append(.version(rpcVersion)) }
    let entries = reported.additionalCapabilities ?? []
    if entries.isEmpty { faults.append(.empty) }
    var root = reported
    root.additionalCapabilities = nil
    if !root.json.isEmpty { faults.append(.rootNotEmpty) }
    let known = Set(offered.flatMap { [$0] + ($0.additionalCapabilities ?? []) }.map(Identity.init))
    var seen: Set<Identity> = []
    for (index, entry) in entries.enumerated() {
      let identity = Identity(entry)
      if !known.contains(identity) { faults.append(.notOffered(index: index, entry.preferredResolution)) }
      if !seen.insert(identity).inserted { faults.append(.duplicate(index: index)) }
    }
    return faults
  }
}
