import GStreamerKit
import SDLApp
import X264Encoder

/// Values of the property `app-type`.
enum AppType: Int32, CaseIterable {
  case navigation
  case projection

  var hmiType: AppHMIType {
    switch self {
    case .navigation: .navigation
    case .projection: .projection
    }
  }
}

/// Values of the property `connection-state`.
enum ConnectionState: Int32, CaseIterable {
  case idle
  case resolving
  case connecting
  case registering
  /// Registered; no video runs.
  case ready
  case streaming
  case failed
  /// The connection is lost, and will be made again.
  case reconnecting
}

extension AppState {
  /// The value in the GObject enumeration.
  var enumValue: Int32 {
    switch self {
    case .foreground: 0
    case .resigning: 1
    case .background: 2
    case .regaining: 3
    }
  }

  init?(enumValue: Int32) {
    guard let state = Self.allCases.first(where: { $0.enumValue == enumValue }) else { return nil }
    self = state
  }
}

extension VideoStreamState {
  /// The value in the GObject enumeration.
  var enumValue: Int32 {
    switch self {
    case .stopped: 0
    case .starting: 1
    case .streaming: 2
    case .suspended: 3
    case .stopping: 4
    }
  }
}

extension BitratePolicy {
  /// The value in the GObject enumeration.
  var enumValue: Int32 {
    switch self {
    case .defaultCapped: 0
    case .headUnitMaximum: 1
    }
  }

  init?(enumValue: Int32) {
    guard let policy = Self.allCases.first(where: { $0.enumValue == enumValue }) else { return nil }
    self = policy
  }
}

/// The GObject enumerations of the element, registered on first use.
enum VideoSinkEnums {
  static let appType = EnumType.register(
    "GstSdlVideoSinkAppType",
    [
      (AppType.navigation.rawValue, "Navigation app", "navigation"),
      (AppType.projection.rawValue, "Projection app", "projection"),
    ])

  static let connectionState = EnumType.register(
    "GstSdlVideoSinkConnectionState",
    [
      (ConnectionState.idle.rawValue, "Not connected", "idle"),
      (ConnectionState.resolving.rawValue, "Looking up the host name", "resolving"),
      (ConnectionState.connecting.rawValue, "Connecting", "connecting"),
      (ConnectionState.registering.rawValue, "Agreeing on a version and registering the app", "registering"),
      (ConnectionState.ready.rawValue, "Registered, without a video stream", "ready"),
      (ConnectionState.streaming.rawValue, "Video may be sent", "streaming"),
      (ConnectionState.failed.rawValue, "Failed; an error message says why", "failed"),
      (ConnectionState.reconnecting.rawValue, "Lost, and about to be made again", "reconnecting"),
    ])

  static let streamState = EnumType.register(
    "GstSdlVideoSinkStreamState",
    [
      (VideoStreamState.stopped.enumValue, "There is no video service", "stopped"),
      (VideoStreamState.starting.enumValue, "The head unit was asked for a video service", "starting"),
      (VideoStreamState.streaming.enumValue, "Frames are sent", "streaming"),
      (VideoStreamState.suspended.enumValue, "The service is kept, but no frames are sent", "suspended"),
      (VideoStreamState.stopping.enumValue, "The head unit was asked to end the service", "stopping"),
    ])

  static let appState = EnumType.register(
    "GstSdlVideoSinkAppState",
    [
      (AppState.foreground.enumValue, "The app is in front", "foreground"),
      (AppState.resigning.enumValue, "The app is about to leave the foreground", "resigning"),
      (AppState.background.enumValue, "The app is in the background", "background"),
      (AppState.regaining.enumValue, "The app is about to come back", "regaining"),
    ])

  static let suspendPolicy = EnumType.register(
    "GstSdlVideoSinkSuspendPolicy",
    [
      (SuspendPolicy.auto.rawValue, "Drop for live sources, ask for a pause for others", "auto"),
      (SuspendPolicy.drop.rawValue, "Drop the frames", "drop"),
      (SuspendPolicy.block.rawValue, "Hold the frames up", "block"),
      (
        SuspendPolicy.requestPause.rawValue, "Ask the application to pause the pipeline, and to go on later",
        "request-pause"
      ),
    ])

  static let bitratePolicy = EnumType.register(
    "GstSdlVideoSinkBitratePolicy",
    [
      (
        BitratePolicy.defaultCapped.enumValue, "600 kbit/s, or the head unit's maximum if that is less",
        "default-capped"
      ),
      (BitratePolicy.headUnitMaximum.enumValue, "The head unit's maximum, if it has one", "head-unit-maximum"),
    ])

  static let resizePolicy = EnumType.register(
    "GstSdlVideoSinkResizePolicy",
    [
      (ResizePolicy.renegotiate.rawValue, "Follow with upstream and stream", "renegotiate"),
      (ResizePolicy.keep.rawValue, "Go on in the present size while the service lasts", "keep"),
      (ResizePolicy.error.rawValue, "End with an error", "error"),
    ])

  static let speedPreset = EnumType.register(
    "GstSdlVideoSinkSpeedPreset", SpeedPreset.allCases.map { ($0.rawValue, $0.nick, $0.nick) })
}
