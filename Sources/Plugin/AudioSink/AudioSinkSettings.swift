import GStreamerKit
import SDLApp

/// The user's settings. The initial values are the properties' defaults.
struct AudioSinkSettings: AppElementSettings {
  var app = Self.defaultApp
  var rpcNotifications: [FunctionID] = []
  var suspendPolicy = SuspendPolicy.auto
  /// Milliseconds.
  var leadTime: UInt32 = 200
  var startsOnData = false
  /// Milliseconds.
  var idleTimeout: UInt32 = 2000
  var volume = 1.0
  var isMuted = false

  private static var defaultApp: AppSettings {
    var app = AppSettings()
    app.hasSound = true
    return app
  }

  /// 0 for muted.
  var gain: Double { isMuted ? 0 : volume.isFinite ? volume : 1 }

  /// The settings that the negotiation needs.
  ///
  /// - Parameter isMedia: whether the app is registered as a media app.
  func negotiation(isMedia: Bool) -> AudioNegotiation.Settings {
    var settings = AudioNegotiation.Settings()
    settings.suspendPolicy = suspendPolicy
    settings.isMedia = isMedia
    return settings
  }

  var activity: AudioActivity {
    AudioActivity(startsOnData: startsOnData, idleTimeout: .milliseconds(Int64(idleTimeout)))
  }
}

extension AudioSink {
  typealias Settings = AudioSinkSettings

  static let properties = PropertyList<AudioSink>(
    // The app, its head unit, and encryption.
    Property.app + Property.encryption + Property.conversation,
    .rpcNotifications,
    .policyUpdates,
    .secondaryTransport,
    .connectionState,
    .headUnit,
    .permissions,
    .transports,
    .enumeration(
      "hmi-level", default: HMILevel.none, "HMI level",
      "How prominent the app is on the head unit; sound is played in full and limited, and of media apps in background",
      get: { $0.app?.status.level ?? .none }),
    // When sound is sent.
    .enumeration(
      "suspend-policy", \.suspendPolicy, "Suspend policy",
      "What happens to sound while the app is not audible", .mutableReady),
    .boolean(
      "start-on-data", \.startsOnData, "Start on data",
      "Open the audio service only while there is sound, for announcements: other sound in the car is lowered only while they last",
      .mutableReady),
    .unsigned(
      "idle-timeout", \.idleTimeout, 0...3_600_000, "Idle time-out",
      "With start-on-data: the silence after which the service ends, in milliseconds", .mutableReady),
    .enumeration(
      "stream-state", default: StreamState.stopped, "Stream state", "State of the audio stream",
      get: { $0.stream?.streamState ?? .stopped }),
    // How it sounds.
    .unsigned(
      "lead-time", \.leadTime, 0...800, "Lead time",
      "How early sound is sent, in milliseconds; head units buffer it, so that shorter delays by threads or network leave no gap",
      .mutablePlaying, changed: { $0.leadTimeChanged() }),
    .double(
      "volume", \.volume, 0...10, "Volume", "Volume factor; 1 leaves the sound unchanged", .mutablePlaying,
      changed: { $0.gainChanged() }),
    .boolean(
      "mute", \.isMuted, "Mute", "Send silence instead of the sound", .mutablePlaying,
      changed: { $0.gainChanged() }),
    .structure(
      "sdl-stats", "SDL statistics",
      "Counters of this element (application/x-sdl-stats): samples-in = samples-sent + every samples-dropped-* + samples-queued; …",
      get: { $0.statistics() }))
}
