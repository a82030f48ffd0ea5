import CPluginTypes
import GStreamerKit
import SDLMessages
import X264Encoder

/// The properties of `sdlvideosink`; raw values are GObject's ids.
enum VideoSinkProperty: UInt32, PropertyTable {
  case uri = 1
  case appName
  case appID
  case appType
  case language
  case connectTimeout
  case heartbeatInterval
  case bitrate
  case speedPreset
  case keyIntMax
  case threads
  case optionString
  case connectionState
  case hmiLevel
  case headUnit
  case stats

  var specification: PropertySpecification {
    switch self {
    case .uri:
      .init(
        "uri", "URI",
        "Head unit: sdl://HOST[:PORT], or sdl+builtin:PRESET (default, core, generic-hmi, legacy). Unset: built-in",
        .string(default: nil), .mutableReady)
    case .appName:
      .init(
        "app-name", "App name", "Name under which the head unit shows the app, at most 100 characters",
        .string(default: "GStreamer"), .mutableReady)
    case .appID:
      .init(
        "app-id", "App id", "Identifies the app in the head unit's policies, at most 100 characters",
        .string(default: "gst-smartdevicelink"), .mutableReady)
    case .appType:
      .init(
        "app-type", "App type", "Kind of app to register as; head units show video of no other kinds",
        .enumeration(VideoSinkEnums.appType, default: AppType.navigation.rawValue), .mutableReady)
    case .language:
      .init(
        "language", "Language", "Language of the app, as the RPC specification writes it",
        .string(default: "EN-US"), .mutableReady)
    case .connectTimeout:
      .init(
        "connect-timeout", "Connect time-out",
        "Longest wait for the connection, and again for the head unit's first answer, in milliseconds",
        .unsigned(minimum: 1, maximum: 3_600_000, default: 10_000), .mutableReady)
    case .heartbeatInterval:
      .init(
        "heartbeat-interval", "Heartbeat interval",
        "Silence after which the head unit is asked for a sign of life, in milliseconds; 0 never asks",
        .unsigned(minimum: 0, maximum: 3_600_000, default: 0), .mutableReady)
    case .bitrate:
      .init(
        "bitrate", "Bitrate",
        "Bitrate of raw video once encoded, in kbit/s; never above what the head unit takes. Changes apply to the next frame",
        .unsigned(minimum: 1, maximum: UInt32(EncoderSettings.bitrateRange.upperBound), default: 600), .mutablePlaying)
    case .speedPreset:
      .init(
        "speed-preset", "Speed/quality preset", "x264 preset for speed against quality",
        .enumeration(VideoSinkEnums.speedPreset, default: VideoSinkSettings.defaultSpeedPreset.rawValue),
        .mutableReady)
    case .keyIntMax:
      .init(
        "key-int-max", "Key-frame maximal interval",
        "Longest distance between two key frames, in frames; 0 is two seconds",
        .unsigned(minimum: 0, maximum: UInt32(Int32.max), default: 0), .mutableReady)
    case .threads:
      .init(
        "threads", "Threads", "Number of threads of the encoder; 0 leaves it to x264",
        .unsigned(minimum: 0, maximum: 128, default: 0), .mutableReady)
    case .optionString:
      .init(
        "option-string", "Option string",
        "x264 options (name=value:name=value); options that head units can't decode are refused",
        .string(default: ""), .mutableReady)
    case .connectionState:
      .init(
        "connection-state", "Connection state", "How far the connection to the head unit has come",
        .enumeration(VideoSinkEnums.connectionState, default: ConnectionState.idle.rawValue), .readOnly)
    case .hmiLevel:
      .init(
        "hmi-level", "HMI level", "How prominent the app is on the head unit; video is shown in full and limited",
        .enumeration(VideoSinkEnums.hmiLevel, default: HMILevel.none.enumValue), .readOnly)
    case .headUnit:
      .init(
        "head-unit", "Head unit",
        "What the head unit says about itself (application/x-sdl-head-unit): make, model, versions, video capability; unset until it is known",
        .structure, .readOnly)
    case .stats:
      .init(
        "sdl-stats", "SDL statistics",
        "Counters of this element (application/x-sdl-stats): frames-in = frames-sent + every frames-dropped-* + frames-queued; bytes-sent; …",
        .structure, .readOnly)
    }
  }
}

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
}

extension HMILevel {
  /// The value in the GObject enumeration.
  var enumValue: Int32 {
    switch self {
    case .none: 0
    case .background: 1
    case .limited: 2
    case .full: 3
    }
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
    ])

  static let hmiLevel = EnumType.register(
    "GstSdlVideoSinkHMILevel",
    [
      (HMILevel.none.enumValue, "The app is not in use", "none"),
      (HMILevel.background.enumValue, "The app is in the background", "background"),
      (HMILevel.limited.enumValue, "Another screen is in front, video may run", "limited"),
      (HMILevel.full.enumValue, "The app is in front", "full"),
    ])

  static let speedPreset = EnumType.register(
    "GstSdlVideoSinkSpeedPreset", SpeedPreset.allCases.map { ($0.rawValue, $0.nick, $0.nick) })
}
