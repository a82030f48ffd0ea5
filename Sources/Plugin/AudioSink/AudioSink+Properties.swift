import GStreamerKit
import SDLApp

extension AudioSink {
  typealias Settings = AudioSinkSettings

  static let properties = PropertyList<AudioSink>(
    Property.app,
    .enumeration(
      "suspend-policy", \.suspendPolicy, "Suspend policy",
      "What happens to sound while the driver does not let the app be heard", .mutableReady),
    .unsigned(
      "lead-time", \.leadTime, 0...800, "Lead time",
      "How long before its time sound leaves, in milliseconds; head units keep it until then. What thread or network delay for less is heard without a gap, at its time",
      .mutablePlaying, changed: { $0.leadTimeChanged() }),
    .boolean(
      "start-on-data", \.startsOnData, "Start on data",
      "Have an audio service only while something can be heard, for announcements: other sound in the car is lowered only while they last",
      .mutableReady),
    .unsigned(
      "idle-timeout", \.idleTimeout, 0...3_600_000, "Idle time-out",
      "With start-on-data: the silence after which the service ends, in milliseconds", .mutableReady),
    .double(
      "volume", \.volume, 0...10, "Volume", "Factor by which sound gets louder; 1 sends it unchanged", .mutablePlaying),
    .boolean("mute", \.isMuted, "Mute", "Send silence in place of the sound", .mutablePlaying),
    .connectionState,
    .enumeration(
      "stream-state", default: StreamState.stopped, "Stream state", "How far the stream of sound has come",
      get: { $0.stream?.streamState ?? .stopped }),
    .enumeration(
      "hmi-level", default: HMILevel.none, "HMI level",
      "How prominent the app is on the head unit; sound is played in full and limited, and of media apps in background",
      get: { $0.app?.status.level ?? .none }),
    .headUnit,
    .structure(
      "sdl-stats", "SDL statistics",
      "Counters of this element (application/x-sdl-stats): samples-in = samples-sent + every samples-dropped-* + samples-queued; …",
      get: { $0.statistics() }),
    .secondaryTransport,
    .transports)
}
