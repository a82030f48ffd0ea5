import CPluginTypes
import GStreamerKit
import SDLApp
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
  case autoReconnect
  case startTimeout
  case maxRetryInterval
  case legacyStartDelay
  case appState
  case restartOnForeground
  case suspendPolicy
  case resizePolicy
  case keepAliveInterval
  case backgroundNotice
  case backgroundText
  case backgroundRepeat
  case hapticRectangles
  case syncedPanning
  case emulateMouse
  case gestures
  case videoFormats
  case bitrate
  case bitratePolicy
  case maxFrameRate
  case speedPreset
  case keyIntMax
  case threads
  case optionString
  case connectionState
  case streamState
  case hmiLevel
  case headUnit
  case stats

  var specification: PropertySpecification {
    switch self {
    case .uri:
      .init(
        "uri", "URI",
        "Head unit: sdl://HOST[:PORT], or sdl+builtin:PRESET (default, core, generic-hmi, legacy, hostile). Unset: built-in",
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
        "language", "Language",
        "Language of the app and its country, such as DE-DE (enumeration Language of the RPC specification)",
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
    case .autoReconnect:
      .init(
        "auto-reconnect", "Reconnect automatically",
        "Connect again when the connection breaks, after 0.5 s to 10 s, while the pipeline stays in PLAYING; otherwise that is an error",
        .boolean(default: true), .mutableReady)
    case .startTimeout:
      .init(
        "start-timeout", "Start time-out",
        "Longest wait for the answer to a start of video, in milliseconds; a second attempt waits at least 12 s, since some head units take 11",
        .unsigned(minimum: 1, maximum: 3_600_000, default: 5000), .mutableReady)
    case .maxRetryInterval:
      .init(
        "max-retry-interval", "Maximum retry interval",
        "A start of video that the head unit refuses is tried again after 2 s, 4 s, …, and never later than this, in milliseconds",
        .unsigned(minimum: 1, maximum: 3_600_000, default: 30_000), .mutableReady)
    case .legacyStartDelay:
      .init(
        "legacy-start-delay", "Legacy start delay",
        "Pause before a start of video on a head unit without a video capability, which may stay black otherwise, in milliseconds",
        .unsigned(minimum: 0, maximum: 60_000, default: 250), .mutableReady)
    case .appState:
      .init(
        "app-state", "App state",
        "How the app stands to its user: video is sent in foreground and regaining; in resigning the background notice, then nothing, as in background",
        .enumeration(VideoSinkEnums.appState, default: AppState.foreground.enumValue), .mutablePlaying)
    case .restartOnForeground:
      .init(
        "restart-on-foreground", "Restart on foreground",
        "When the app comes back to the foreground, end the video service and start it anew instead of using it on",
        .boolean(default: false), .mutableReady)
    case .suspendPolicy:
      .init(
        "suspend-policy", "Suspend policy", "What happens to frames while driver or app do not want video",
        .enumeration(VideoSinkEnums.suspendPolicy, default: SuspendPolicy.auto.rawValue), .mutableReady)
    case .resizePolicy:
      .init(
        "resize-policy", "Resize policy",
        "What happens when the head unit resizes the picture of a stream that has started: keep lasts until the service ends, also in the background; a connection made anew may bring a resize as well",
        .enumeration(VideoSinkEnums.resizePolicy, default: ResizePolicy.renegotiate.rawValue), .mutableReady)
    case .keepAliveInterval:
      .init(
        "keep-alive-interval", "Keep-alive interval",
        "The last picture is sent again after so long without another, in milliseconds, lest the head unit blank its screen; 0 never",
        .unsigned(minimum: 0, maximum: 3_600_000, default: 500), .mutablePlaying)
    case .backgroundNotice:
      .init(
        "background-notice", "Background notice",
        "Show a text on the head unit when app-state becomes resigning, before nothing more is sent",
        .boolean(default: true), .mutablePlaying)
    case .backgroundText:
      .init(
        "background-text", "Background text", "Text of the background notice; unset: a sentence with the app's name",
        .string(default: nil), .mutablePlaying)
    case .backgroundRepeat:
      .init(
        "background-repeat", "Background repeat",
        "Send the background notice on, a picture every keep-alive-interval, for head units that blank their screen without data",
        .boolean(default: false), .mutablePlaying)
    case .hapticRectangles:
      .init(
        "haptic-rectangles", "Haptic rectangles",
        "Touchable parts of the picture, for head units worked with a knob: <<x,y,width,height>,…> in pixels of the input. A frame's own (GstVideoRegionOfInterestMeta of the type sdl-haptic) replace them",
        .integerRows, .mutablePlaying)
    case .syncedPanning:
      .init(
        "synced-panning", "Synchronized panning",
        "Motion of fingers goes upstream once for each frame, with its last place, instead of as often as the head unit tells",
        .boolean(default: true), .mutablePlaying)
    case .emulateMouse:
      .init(
        "emulate-mouse", "Emulate mouse",
        "The first finger also is the first button of a mouse, for sources that know no fingers",
        .boolean(default: false), .mutablePlaying)
    case .gestures:
      .init(
        "gestures", "Gestures",
        "Post element messages sdl-gesture for taps, double taps, pans and pinches on the head unit's screen",
        .boolean(default: false), .mutablePlaying)
    case .videoFormats:
      .init(
        "video-formats", "Video formats",
        "How H.264 may be carried, in order of preference: raw, rtp, or both with a comma; what the head unit does not list is left out. Unset: the head unit's order",
        .string(default: nil), .mutableReady)
    case .bitrate:
      .init(
        "bitrate", "Bitrate",
        "Bitrate of raw video once encoded, in kbit/s; 0 is automatic. Never above what the head unit takes. Changes apply to the next frame",
        .unsigned(minimum: 0, maximum: UInt32(EncoderSettings.bitrateRange.upperBound), default: 0), .mutablePlaying)
    case .bitratePolicy:
      .init(
        "bitrate-policy", "Bitrate policy", "What bitrate=0 stands for. Changes apply to the next frame",
        .enumeration(VideoSinkEnums.bitratePolicy, default: BitratePolicy.defaultCapped.enumValue), .mutablePlaying)
    case .maxFrameRate:
      .init(
        "max-framerate", "Maximum frame rate",
        "Most frames of raw video per second; 0 leaves it to the head unit, whose rate is never exceeded. Changes apply to the next frame",
        .fraction(maximum: Int32(EncoderTargets.maximumFrameRate)), .mutablePlaying)
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
        "threads", "Threads", "Number of threads of the encoder; 0 takes as many as the size of the pictures calls for",
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
    case .streamState:
      .init(
        "stream-state", "Stream state", "How far the video stream has come",
        .enumeration(VideoSinkEnums.streamState, default: VideoStreamState.stopped.enumValue), .readOnly)
    case .hmiLevel:
      .init(
        "hmi-level", "HMI level", "How prominent the app is on the head unit; video is shown in full and limited",
        .enumeration(HMILevel.enumeration, default: HMILevel.none.enumValue), .readOnly)
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
