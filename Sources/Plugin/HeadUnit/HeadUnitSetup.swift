import GStreamerKit
import SDLHeadUnit
import SDLLink
import SDLMessages
import TLSEngine

/// What the elements of a head unit together ask for.
struct HeadUnitSetup: Sendable {
  var settings: HeadUnitSettings
  /// Nil while no element is there that takes video.
  var video: HeadUnitVideoSettings?

  /// What the head unit is to apps.
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

  /// With what `other` has set, and this one has not.
  func completed(by other: HeadUnitSetup) -> HeadUnitSetup {
    HeadUnitSetup(settings: settings.completed(by: other.settings), video: video ?? other.video)
  }

  /// - Throws: why the behaviour script can't be used.
  func script() throws(ElementError) -> HeadUnitScript {
    do {
      return try settings.script.map(HeadUnitScriptFile.read) ?? HeadUnitScript()
    } catch {
      throw ElementError(error)
    }
  }

  /// The head unit's end of TLS; nil if it does not encrypt.
  ///
  /// - Throws: what can't be used of the certificates.
  func tls() throws(ElementError) -> TLSContext? {
    guard let video, video.encryption != .refuse else { return nil }
    return try video.tls.context()
  }
}

/// The settings of an element that is a head unit, or part of one.
protocol HeadUnitElementSettings: PropertySettings {
  var headUnit: HeadUnitSettings { get set }
  /// Nil if the element does not take video.
  var headUnitVideo: HeadUnitVideoSettings? { get }
  /// Whether the stream ends when the app has gone.
  var endsWithApp: Bool { get set }
}

extension HeadUnitElementSettings {
  var setup: HeadUnitSetup { HeadUnitSetup(settings: headUnit, video: headUnitVideo) }
}
