import GStreamerKit
import SDLApp

/// An element that uses an app.
struct AppMember: Sendable {
  /// The id of the element's Swift object.
  let id: ObjectIdentifier
  let element: ElementHandle<any AppElement>
  let kind: StreamService
  let name: String
  /// Its name with those of the bins around it.
  let path: String
  /// Its stream, while there is one.
  var stream: (any AppStream)?
  /// It is in NULL, and only posts what the app reports until another element uses it.
  var isAway = false
  var pausedPipeline: UInt?
  /// The notifications that it wants.
  var notifications: Set<FunctionID>

  init(_ element: any AppElement) {
    id = ObjectIdentifier(element)
    self.element = ElementHandle(element.gstElement) { [unowned element] in element }
    kind = element.service
    notifications = element.wantedNotifications
    name = String(freeing: gst_object_get_name(element.gstElement.cast())) ?? ""
    path = String(freeing: gst_object_get_path_string(element.gstElement.cast())) ?? name
  }
}

/// The elements that use an app, in the order in which they came.
struct AppMembers: Sendable {
  private var members: [AppMember] = []

  init(_ members: AppMember...) {
    self.members = members
  }

  /// No element uses the app now.
  var areAway: Bool { members.allSatisfy(\.isAway) }

  /// The notifications that any of them wants.
  var notifications: Set<FunctionID> { members.reduce(into: []) { $0.formUnion($1.notifications) } }

  /// The first element that uses the app; nil if none does.
  var first: AppMember? { members.first { !$0.isAway } }

  /// The name of the element that streams `kind`; nil if none does.
  func name(of kind: StreamService) -> String? { members.first { $0.kind == kind && !$0.isAway }?.name }

  subscript(_ id: ObjectIdentifier) -> AppMember? { members.first { $0.id == id } }

  /// Changes the entry of an element, if it still uses the app.
  mutating func change(_ id: ObjectIdentifier, _ body: (inout AppMember) -> Void) {
    if let index = members.firstIndex(where: { $0.id == id }) { body(&members[index]) }
  }

  /// Whether `stream` is the present one of an element.
  func contains(_ stream: any AppStream) -> Bool { members.contains { $0.stream === stream } }

  mutating func detach(_ stream: any AppStream) {
    for index in members.indices where members[index].stream === stream { members[index].stream = nil }
  }

  /// Adds an element; false if another streams the same.
  mutating func join(_ member: AppMember) -> Bool {
    for former in members where former.isAway { former.element.end() }
    members.removeAll(where: \.isAway)
    guard name(of: member.kind) == nil else { return false }
    members.append(member)
    return true
  }

  /// An element leaves. The last one stays as the one that posts.
  ///
  /// - Returns: whether others use the app.
  mutating func leave(_ id: ObjectIdentifier) -> Bool {
    guard let index = members.firstIndex(where: { $0.id == id }) else { return !areAway }
    guard members.count > 1 else {
      members[index].isAway = true
      members[index].notifications = []
      return false
    }
    members.remove(at: index).element.end()
    return true
  }

  /// Nothing reaches them any more.
  mutating func removeAll() {
    for member in members { member.element.end() }
    members = []
  }
}

/// Pauses that the elements ask for, of which each pipeline is told once.
extension AppMembers {
  /// - Returns: whether no other element of `pipeline` has asked for it.
  mutating func requestPause(_ id: ObjectIdentifier, of pipeline: UInt) -> Bool {
    defer { change(id) { $0.pausedPipeline = pipeline } }
    return !members.contains { $0.pausedPipeline == pipeline }
  }

  /// - Returns: whether the element was the last one that asked for it.
  mutating func takeBackPause(_ id: ObjectIdentifier) -> Bool {
    guard let pipeline = self[id]?.pausedPipeline else { return false }
    change(id) { $0.pausedPipeline = nil }
    return !members.contains { $0.pausedPipeline == pipeline }
  }
}

/// Calls to the elements. Without locks.
extension AppMembers {
  /// Calls `body` with the element that posts for the app.
  func withPoster(_ body: (any AppElement) -> Void) {
    members.first?.element.withReference(body)
  }

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
    if !areAway { withElements { $0.notify(property) } }
  }

  func countApp(_ change: (inout AppCounters) -> Void) {
    withElements { $0.countApp(change) }
  }
}
