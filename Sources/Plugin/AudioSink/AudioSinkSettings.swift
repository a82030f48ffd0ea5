import GStreamerKit
import SDLApp

/// What the user asked for. The initial values are the properties' defaults.
struct AudioSinkSettings: AppSinkSettings {
  var app = Self.defaultApp
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

  var lead: Duration { .milliseconds(Int64(leadTime)) }

  /// 0 for muted.
  var gain: Double { isMuted ? 0 : volume.isFinite ? volume : 1 }

  /// What the negotiation has to know.
  ///
  /// - Parameter isMedia: whether the app is registered as a media app.
  func negotiation(isMedia: Bool) -> AudioNegotiation.Settings {
    var settings = AudioNegotiation.Settings()
    settings.suspendPolicy = suspendPolicy
    settings.isMedia = isMedia
    return settings
  }

  var activity: SoundActivity {
    SoundActivity(startsOnData: startsOnData, idleTimeout: .milliseconds(Int64(idleTimeout)))
  }
}
