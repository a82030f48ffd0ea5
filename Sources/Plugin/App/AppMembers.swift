import GStreamerKit
import SDLApp

/// An element that uses an app.
struct AppMember: Sendable {
  /// The id of the element's Swift object.
  let id: ObjectIdentifier
  let element: ElementHandle<any AppElement>
  /// The service that the element streams on.
  let kind: StreamService
  /// The element's name.
  let name: String
  /// Its stream, while there is one.
  var stream: (any AppStream)?
  /// How often its streaming threads had to return.
  var interruptions: UInt64 = 0
  /// No stream follows: its pipeline goes down.
  var isGoingDown = false
  /// It is in NULL, and is expected to use the app again.
  var isLingering = false
  /// The notifications that it wants.
  var notifications: Set<FunctionID>

  init(_ element: any AppElement) {
    id = ObjectIdentifier(element)
    self.element = ElementHandle(element.gstElement) { [unowned element] in element }
    kind = element.service
    notifications = element.wantedNotifications
    name = String(freeing: gst_object_get_name(element.gstElement.cast())) ?? ""
  }
}

/// The elements that use an app, in the order in which they came.
struct AppMembers: Sendable {
  private var members: [AppMember]

  init(_ first: AppMember) {
    members = [first]
  }

  /// All of them are in NULL, and are expected to use the app again.
  var areLingering: Bool { members.allSatisfy(\.isLingering) }

  /// The notifications that any of them wants.
  var notifications: Set<FunctionID> { members.reduce(into: []) { $0.formUnion($1.notifications) } }

  /// The name of the element that streams `kind`; nil if none does.
  func name(of kind: StreamService) -> String? { members.first { $0.kind == kind }?.name }

  subscript(_ id: ObjectIdentifier) -> AppMember? { members.first { $0.id == id } }

  /// Changes the entry of an element, if it still uses the app.
  mutating func change(_ id: ObjectIdentifier, _ body: (inout AppMember) -> Void) {
    if let index = members.firstIndex(where: { $0.id == id }) { body(&members[index]) }
  }

  /// Whether `stream` is the present one of an element.
  func contains(_ stream: any AppStream) -> Bool { members.contains { $0.stream === stream } }

  /// Stops reporting to `stream`.
  mutating func detach(_ stream: any AppStream) {
    for index in members.indices where members[index].stream === stream { members[index].stream = nil }
  }

  /// Adds an element, and returns the name of the first one; nil if another streams the same.
  mutating func join(_ member: AppMember) -> String? {
    guard let first = members.first, name(of: member.kind) == nil else { return nil }
    members.append(member)
    return first.name
  }

  /// An element leaves, unless the app ends without it: then all entries stay, since there has to be an element as long
  /// as there is a connection.
  ///
  /// - Returns: the others, and whether the app continues.
  mutating func leave(_ id: ObjectIdentifier) -> (others: [AppMember], goesOn: Bool) {
    let others = members.filter { $0.id != id }
    let goesOn = others.contains { !$0.isLingering }
    if goesOn { members = others }
    return (others, goesOn)
  }

  mutating func removeAll() {
    members = []
  }
}

/// Calls to the elements. Without locks.
extension AppMembers {
  /// Calls `body` with the element that posts for the app: the first one that is not about to stop, as that may have no
  /// bus any more.
  func withPoster(_ body: (any AppElement) -> Void) {
    (members.first { !$0.isLingering } ?? members.first)?.element.withReference(body)
  }

  /// Whether messages reach an application now.
  var isHeard: Bool {
    var isHeard = false
    withPoster { isHeard = $0.hasListener }
    return isHeard
  }

  func withElements(_ body: (any AppElement) -> Void) {
    for member in members { member.element.withReference(body) }
  }

  /// Calls `body` with the streams of the elements that still use the app.
  func withStreams(_ body: (any AppStream) -> Void) {
    for member in members {
      guard let stream = member.stream else { continue }
      member.element.withReference { _ in body(stream) }
    }
  }

  func notify(_ property: PropertyName) {
    withElements { $0.notify(property) }
  }

  func countApp(_ change: (inout AppCounters) -> Void) {
    withElements { $0.countApp(change) }
  }
}
