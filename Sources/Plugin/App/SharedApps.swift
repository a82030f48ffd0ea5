import GStreamerKit
import SDLLink
import Synchronization

/// The apps that several elements use: those of a pipeline, or of all pipelines to which the application passes the
/// context.
///
/// An app is found by head unit and identity of its first element, and has at most one element for each service.
/// Between two films it goes on without elements.
final class SharedApps: Sendable {
  /// The context in which elements find the apps that they share.
  static let context = ContextType<SharedApps>("sdl.apps", boxed: "GstSdlApps")

  /// The head unit and the identity of an app.
  private struct Key: Equatable, Sendable {
    var uri: String?
    var id: String
    var name: String

    init(_ settings: AppSettings) {
      (uri, id, name) = (settings.uri, settings.id, settings.name)
    }
  }

  private struct Entry: Sendable {
    /// The object to which it belongs.
    let owner: ObjectIdentifier
    var key: Key
    let app: AppClient
  }

  /// The apps of all objects: a head unit registers each id once, and does not know pipelines.
  private static let entries = Mutex<[Entry]>([])

  private var apps: [AppClient] {
    Self.entries.withLock { entries in entries.filter { $0.owner == ObjectIdentifier(self) }.map(\.app) }
  }

  /// The result of a request to use an app.
  enum Result {
    /// It is new, and its first element has to start it. The element with this name, if any, may have been meant to use
    /// it as well, but differs in that property.
    case made(AppClient, unlike: (element: String, property: String)?)
    /// It runs already, for the element with this name, or for none.
    case joined(AppClient, beside: String?)
  }

  deinit {
    // GStreamer may hold the lock of a bin that has lost the context.
    for app in apps { app.end(isQuiet: true) }
    Self.entries.withLock { entries in entries.removeAll { $0.owner == ObjectIdentifier(self) } }
  }

  /// Ends the apps that no element uses.
  func endAbandoned() {
    for app in apps where app.isAbandoned { app.end() }
  }

  /// Finds the app of `settings` or makes it, and counts `element` among its elements.
  ///
  /// - Throws: the first thing in the settings that can't work; or that another element has the app.
  func join(
    _ settings: AppSettings, _ element: any AppElement, time: TimeSource
  ) throws(ElementError) -> Result {
    let (owner, key) = (ObjectIdentifier(self), Key(settings))
    // Without the lock, since they take the element's: GStreamer may hold that while it gives up an object of this class.
    let (member, log) = (AppMember(element), ProtocolLog(element.gstElement))
    // Ended without the lock, since that posts messages.
    let outdated = Self.entries.withLock { entries in
      entries.filter { $0.owner == owner && $0.key == key && $0.app.isAbandoned(for: settings) }.map(\.app)
    }
    for app in outdated { app.end() }
    return try Self.entries.withLock { entries throws(ElementError) in
      entries.removeAll { !$0.app.isUsable }
      let own = entries.filter { $0.owner == owner }
      let apps = own.filter { $0.key == key }.map(\.app)
      for app in apps {
        let first = app.firstElement?.name
        if app.join(member) { return .joined(app, beside: first) }
      }
      // A second video sink is a second app, whose default id and name get a number; for a second audio sink it is not
      // clear which app is meant.
      if element.service == .audio, let other = apps.lazy.compactMap({ $0.elementName(of: .audio) }).first {
        throw .resource(
          GST_RESOURCE_ERROR_BUSY,
          "\(other) sends the sound of the app \(settings.name) already, and head units play one stream of each app: give this sdlaudiosink an app-id and app-name of its own, or mix the sound before it (audiomixer)."
        )
      }
      if let other = Self.registering(settings, among: entries.filter { $0.owner != owner }) {
        throw Self.isRegistered(by: other, settings, element.service)
      }
      let others = own.filter { $0.key != key && $0.key.uri == key.uri }
      if element.service == .video, let other = Self.showing(settings, among: own.map(\.app)) {
        throw .resource(
          GST_RESOURCE_ERROR_BUSY,
          "\(other) shows the picture of the app with the app-id \(settings.id) already, and head units register each app once: give this sdlvideosink an app-id and app-name of its own, or compose the pictures before it (compositor)."
        )
      }
      let app = try AppClient(settings, member, log, time: time)
      let unlike = Self.unlike(key, element.service, others)
      entries.append(Entry(owner: owner, key: key, app: app))
      return .made(app, unlike: unlike)
    }
  }

  /// The element that shows the app with the same id.
  private static func showing(_ settings: AppSettings, among apps: [AppClient]) -> String? {
    apps.lazy.filter { $0.settings.excludes(settings) }.compactMap { $0.elementName(of: .video) }.first
  }

  /// The first element of another pipeline's app with the same id.
  private static func registering(_ settings: AppSettings, among entries: [Entry]) -> AppMember? {
    entries.lazy.filter { $0.app.settings.excludes(settings) }.compactMap(\.app.firstElement).first
  }

  private static func isRegistered(
    by other: AppMember, _ settings: AppSettings, _ service: StreamService
  ) -> ElementError {
    let advice =
      other.kind == service
      ? "" : ", or hand that pipeline's context \(context.name) over to this one, for one app with picture and sound"
    return .resource(
      GST_RESOURCE_ERROR_BUSY,
      "\(other.path) has registered the app with the app-id \(settings.id) already, and head units register each app once: give this element an app-id and app-name of its own\(advice)."
    )
  }

  /// The element that streams the other service of an app that differs in one part of its identity.
  private static func unlike(
    _ key: Key, _ service: StreamService, _ entries: [Entry]
  ) -> (element: String, property: String)? {
    for entry in entries where (entry.key.id == key.id) != (entry.key.name == key.name) {
      guard entry.app.elementName(of: service) == nil,
        let other = entry.app.elementName(of: service == .video ? .audio : .video)
      else { continue }
      return (other, entry.key.id == key.id ? "app-name" : "app-id")
    }
    return nil
  }
}
