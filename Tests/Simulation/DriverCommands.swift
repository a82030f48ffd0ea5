/// Kinds of commands of a behaviour script.
enum DriverCommands {
  /// Those of ``Agreement``.
  static let events: Set<String> = ["phone-call", "emergency", "embedded-navi"]
  /// What a driver does every day costs no connection.
  static let harmless: Set<String> = [
    "level", "activate", "audio-streaming", "phone-call", "emergency", "embedded-navi", "resize", "framerate",
    "max-bitrate", "update", "touch", "press", "menu", "choose", "slider", "keyboard", "vehicle", "gps", "distraction",
    "policy-update",
  ]

  /// With which all that the script has changed is as usual again.
  static let calm = [
    "answer start-session ack", "answer register regular", "answer get-capability regular",
    "answer start-video regular", "answer start-audio ack", "answer end-service ack", "answer register-secondary ack",
    "answer start-tls regular", "heartbeat core", "silent off", "refuse-connections off", "phone-call off",
    "emergency off", "embedded-navi off", "none-after-refusal off", "delay start-video 0",
    "delay secondary-transport 0",
    "video-transports 1", "audio-transports 1", "data-timeout off", "framerate 0", "max-bitrate 0", "player on",
    "language EN-US",
  ]
}
