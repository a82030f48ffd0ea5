import GStreamerKit
import SDLLink
import Synchronization

/// The apps that several elements use: those of a pipeline, or of all pipelines to which the application passes the
/// context.
///
/// An app is found by head unit and identity of its first element, and has at most one element for each service. Its
/// elements own it; the references here are weak.
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
    var key: Key
    weak var app: AppClient?
  }

  private let entries = Mutex<[Entry]>([])

  /// The result of a request to use an app.
  enum Result {
    /// It is new, and its first element has to start it.
    case made(AppClient)
    /// It runs already, for the element with this name.
    case joined(AppClient, first: String)
  }

  /// Finds the app of `settings` or makes it, and counts `element` among its elements.
  ///
  /// - Throws: the first thing in the settings that can't work; or that another element sends the app's sound.
  func join(
    _ settings: AppSettings, _ element: any AppElement, time: TimeSource
  ) throws(ElementError) -> Result {
    let key = Key(settings)
    return try entries.withLock { entries throws(ElementError) in
      entries.removeAll { $0.app?.isUsable != true }
      let apps = entries.filter { $0.key == key }.compactMap(\.app)
      for app in apps {
        if let first = app.join(element) { return .joined(app, first: first) }
      }
      // A second video sink is a second app, whose default id and name get a number; for a second audio sink it is not
      // clear which app is meant.
      if element.service == .audio, let other = apps.lazy.compactMap({ $0.elementName(of: .audio) }).first {
        throw .resource(
          GST_RESOURCE_ERROR_BUSY,
          "\(other) sends the sound of the app \(settings.name) already, and head units play one stream of each app: give this sdlaudiosink an app-id and app-name of its own, or mix the sound before it (audiomixer)."
        )
      }
      let app = try AppClient(settings, element, time: time)
      entries.append(Entry(key: key, app: app))
      return .made(app)
    }
  }
}
