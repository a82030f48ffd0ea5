import GStreamerKit
import Glibc
import SDLHeadUnit
import SDLHeadUnitLink
import SDLLink
import SDLMessages
import TLSEngine

/// The merged settings of a head unit's elements.
struct HeadUnitSetup: Sendable {
  var settings: HeadUnitSettings
  /// Nil while there is no element for video.
  var video: HeadUnitVideoSettings?

  var configuration: HeadUnitConfiguration {
    var configuration = settings.configuration
    video?.apply(to: &configuration)
    return configuration
  }

  /// The status of an app on the screen.
  var status: HMIStatus {
    let isVisible = settings.hmiLevel == .full || settings.hmiLevel == .limited
    return HMIStatus(
      level: settings.hmiLevel, audioStreamingState: isVisible ? settings.audioStreaming : .notAudible,
      videoStreamingState: isVisible && video?.isStreamable ?? true ? .streamable : .notStreamable)
  }

  /// The address and the port that make elements of one process the same head unit.
  struct Place: Hashable, Sendable {
    /// Nil for all addresses of this machine.
    var address: String?
    var port: UInt16
  }

  var place: Place { Place(address: settings.listeningAddress, port: settings.port) }

  /// This setup, completed with settings that only `other` has.
  func completed(by other: HeadUnitSetup) -> HeadUnitSetup {
    HeadUnitSetup(settings: settings.completed(by: other.settings), video: video ?? other.video)
  }

  /// - Throws: why the behaviour script can't be used.
  func script() throws(ElementError) -> HeadUnitScript {
    guard let file = settings.script else { return HeadUnitScript() }
    do {
      return try HeadUnitScriptFile.read(file)
    } catch {
      throw ElementError(error)
    }
  }

  /// The head unit's end of TLS; nil if it does not encrypt.
  ///
  /// - Throws: why a certificate can't be used.
  func tls() throws(ElementError) -> TLSContext? {
    guard let video, video.encryption != .refuse else { return nil }
    return try video.tls.context()
  }
}

extension ElementError {
  /// Why a behaviour script can't be used.
  init(_ error: HeadUnitScriptFile.Failure) {
    switch error {
    case .unreadable(_, let code):
      self = .resource(
        code == ENOENT ? GST_RESOURCE_ERROR_NOT_FOUND : GST_RESOURCE_ERROR_OPEN_READ,
        "The script \(error). Check the property script.")
    case .malformed: self = .resource(GST_RESOURCE_ERROR_SETTINGS, "The script \(error).")
    }
  }

  /// Why `sdlheadunitsrc` can't listen for apps.
  ///
  /// - Parameter secondaryPort: 0 for any.
  init(listening error: LinkError, secondaryPort: UInt16) {
    let text = error.description
    let sentence = text.prefix(1).uppercased() + text.dropFirst() + "."
    switch error {
    case .cannotListen(_, errno: EADDRNOTAVAIL):
      self = .resource(
        GST_RESOURCE_ERROR_OPEN_READ,
        "\(sentence) This machine has no such address; check the property address, or use * for all addresses.")
    case .cannotListen(_, errno: EMFILE), .cannotListen(_, errno: ENFILE):
      self = .resource(GST_RESOURCE_ERROR_FAILED, sentence)
    case .cannotListen(let address, _) where secondaryPort > 0 && address.hasSuffix(":\(secondaryPort)"):
      self = .resource(
        GST_RESOURCE_ERROR_OPEN_READ,
        "\(sentence) Choose a free port with secondary-port=N; 0 takes any free port (see current-secondary-port).")
    case .cannotListen:
      self = .resource(
        GST_RESOURCE_ERROR_OPEN_READ,
        "\(sentence) Is another head unit running (SDL Core, another sdlheadunitsrc)? Stop it, or choose a free port with port=N; port=0 takes any free port (see current-port)."
      )
    case .cannotResolve, .resolvingTimedOut:
      self = .resource(GST_RESOURCE_ERROR_NOT_FOUND, "\(sentence) Check the property address.")
    default: self = .resource(GST_RESOURCE_ERROR_FAILED, sentence)
    }
  }
}
