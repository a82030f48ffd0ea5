import GStreamerKit
import SDLApp
import SDLLink

/// An element that uses the app.
struct AppMember: Sendable {
  let host: AppHostHandle
  /// What the element streams.
  let kind: StreamService
  /// The element's name.
  let name: String
  /// Its stream, while there is one.
  var service: (any AppService)?
  /// How often its streaming threads had to return.
  var interruptions: UInt64 = 0
  /// No stream is to come: its pipeline goes down.
  var isGoingDown = false
  /// It is in NULL, and will soon use the app again.
  var isLingering = false

  init<Host: AppHost>(_ host: Host) {
    self.host = AppHostHandle(host)
    kind = host.service
    name = String(freeing: gst_object_get_name(host.gstElement.cast())) ?? ""
  }
}

extension AppRun.State {
  /// Changes what is known of an element; nil if it does not use the app any more.
  mutating func change<Result>(_ host: ObjectIdentifier, _ body: (inout AppMember) -> Result) -> Result? {
    guard let index = members.firstIndex(where: { $0.host.id == host }) else { return nil }
    return body(&members[index])
  }
}

/// The elements that use the app. One of them posts what concerns the app; all of them notify.
extension AppRun {
  /// A further element uses the app.
  ///
  /// - Returns: the name of the first one; nil if another element streams the same, or the app can't be used.
  func join<Host: AppHost>(_ host: Host) -> String? {
    let member = AppMember(host)
    return state.withLock { state in
      guard let first = state.members.first, !state.isFailing, !state.isEnding, !state.hasLingered,
        !state.members.contains(where: { $0.kind == member.kind })
      else { return nil }
      state.members.append(member)
      return first.name
    }
  }

  /// The name of the element that streams `kind`; nil if none does.
  func elementName(of kind: StreamService) -> String? {
    state.withLock { state in state.members.first { $0.kind == kind }?.name }
  }

  /// The element does not use the app any more. The last one ends it, and with it those that are in NULL already.
  ///
  /// - Parameters:
  ///   - host: nil when the element is being freed, and can't post anything any more.
  ///   - time: see ``end(_:_:after:)``.
  /// - Returns: whether the app goes on.
  @discardableResult
  func leave(_ id: ObjectIdentifier, _ host: (any AppHost)?, after time: Duration = .zero) -> Bool {
    let (left, others, goesOn) = state.withLock { state in
      let goesOn = state.members.contains { $0.host.id != id && !$0.isLingering }
      let left = state.members.first { $0.host.id == id }
      // The last one stays until the connection has ended, for whose lifetime an element has to be known.
      if goesOn { state.members.removeAll { $0.host.id == id } } else { state.isEnding = true }
      return (left, state.members.filter { $0.host.id != id }, goesOn)
    }
    guard let left else { return false }
    guard !goesOn else {
      left.host.end()
      return true
    }
    end(left, host, after: time)
    for other in others { other.host.withReference { $0.appHasLingered(self) } }
    return false
  }

  /// Calls `body` with the element that posts for the app: the first one that is not on its way out, as it may have no bus any
  /// more.
  func withPoster(_ body: (any AppHost) -> Void) {
    state.withLock { state in (state.members.first { !$0.isLingering } ?? state.members.first)?.host }?
      .withReference(body)
  }

  func withEveryHost(_ body: (any AppHost) -> Void) {
    for host in state.withLock({ $0.members.map(\.host) }) { host.withReference(body) }
  }

  /// Calls `body` with the streams of `members`, as far as their elements still use the app.
  func withServices(of members: [AppMember], _ body: (any AppService) -> Void) {
    for member in members {
      guard let service = member.service else { continue }
      member.host.withReference { _ in body(service) }
    }
  }

  func notify(_ property: PropertyName) {
    withEveryHost { $0.notify(property) }
  }

  /// An element that joins a registered app counts its connection.
  func countFormer(_ host: any AppHost) {
    guard status.headUnit != nil else { return }
    host.countApp { $0.connections &+= 1 }
  }

  func countApp(_ change: (inout AppCounters) -> Void) {
    withEveryHost { $0.countApp(change) }
  }
}
