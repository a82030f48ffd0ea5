import GStreamerKit
import Glibc
import HTTPServe
import HeadUnitControl
import SDLHeadUnit
import SDLHeadUnitLink
import SDLLink

/// A head unit's page for browsers, while it is served (property `web`).
final class HeadUnitPage: Sendable {
  /// With the token.
  let uri: String
  private let control: ControlInterface
  private let pictures = PictureTaker()

  /// Begins to listen.
  ///
  /// - Parameters:
  ///   - log: keeps recent lines; it gets its events from here.
  ///   - perform: carries a command out, which was given as this text; returns why it has no effect.
  init(
    at address: ControlAddress, of configuration: HeadUnitConfiguration, _ log: ConversationLog,
    _ perform: @escaping @Sendable (HeadUnitCommand, String) -> String?
  ) throws(ElementError) {
    control = ControlInterface(log, pictures, display: configuration.screen, keepsImages: true)
    do throws(LinkError) {
      // Only commands of scripts would need the server.
      try pictures.start(nil)
    } catch {
      throw .resource(GST_RESOURCE_ERROR_FAILED, "The thread for pictures of the page could not be started: \(error)")
    }
    do throws(HTTPServerFailure) {
      uri = address.page(atPort: try control.start(address, hasPage: true, perform))
    } catch {
      pictures.finish()
      throw ElementError(serving: error)
    }
  }

  func note(_ event: HeadUnitServerEvent) { control.note(event) }

  /// Closes its connections; then the port is free.
  func stop() {
    control.stop()
    pictures.finish()
  }
}

extension ElementError {
  /// Why the page can't be served.
  init(serving failure: HTTPServerFailure) {
    switch failure {
    case .noLibrary:
      self = .resource(
        GST_RESOURCE_ERROR_NOT_FOUND,
        "The page needs libsoup 3: install libsoup-3.0-0 (a program that uses libsoup 2 can't have it), or leave web unset."
      )
    case .link(.cannotResolve(let host, _)), .link(.resolvingTimedOut(let host, _)):
      self = .resource(
        GST_RESOURCE_ERROR_NOT_FOUND, "The page can't be served: there is no host \(host). Check the property web.")
    case .link(.cannotListen(let address, errno: EADDRNOTAVAIL)):
      self = .resource(
        GST_RESOURCE_ERROR_OPEN_READ,
        "The page can't be served: this machine has no address \(address). Check the property web, or use *:PORT for all addresses."
      )
    case .link(.cannotListen):
      self = .resource(
        GST_RESOURCE_ERROR_OPEN_READ,
        "The page can't be served: \(failure). Choose a free port with web=N; web=0 takes any free port (see current-web-uri)."
      )
    case .link, .other: self = .resource(GST_RESOURCE_ERROR_FAILED, "The page can't be served: \(failure)")
    }
  }
}
