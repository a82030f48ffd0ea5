/// OnHMIStatus: whether the app is on the screen, and what it may stream.
package struct HMIStatus: RPCParameters {
  /// Nil when the head unit sent a level that is not known here; ignore such a status.
  package var level: HMILevel?
  package var audioStreamingState: AudioStreamingState
  package var systemContext: SystemContext
  /// Absent counts as STREAMABLE.
  package var videoStreamingState: VideoStreamingState
  /// 0 is the main window; widgets have others and say nothing about streaming.
  package var windowID: Int

  /// Creates a status; by default not audible, unobscured and of the main window.
  package init(
    level: HMILevel?, audioStreamingState: AudioStreamingState = .notAudible, systemContext: SystemContext = .main,
    videoStreamingState: VideoStreamingState, windowID: Int = 0
  ) {
    self.level = level
    self.audioStreamingState = audioStreamingState
    self.systemContext = systemContext
    self.videoStreamingState = videoStreamingState
    self.windowID = windowID
  }

  /// Of an app that the driver has not opened.
  package static let closed = HMIStatus(level: HMILevel.none, videoStreamingState: .notStreamable)

  package init(json: JSONObject) {
    self.init(
      level: json.enumeration("hmiLevel"),
      audioStreamingState: json.enumeration("audioStreamingState") ?? .notAudible,
      systemContext: json.enumeration("systemContext") ?? .main,
      videoStreamingState: json.enumeration("videoStreamingState") ?? .streamable,
      windowID: json["windowID"]?.integer ?? 0)
  }

  package var json: JSONObject {
    JSONObject(present: [
      "hmiLevel": level.map { .string($0.rawValue) },
      "audioStreamingState": .string(audioStreamingState.rawValue),
      "systemContext": .string(systemContext.rawValue),
      "videoStreamingState": .string(videoStreamingState.rawValue),
      "windowID": .integer(windowID),
    ])
  }

  /// Whether video may be sent: FULL or LIMITED, and streamable.
  package var allowsVideo: Bool {
    (level == .full || level == .limited) && videoStreamingState == .streamable
  }

  /// Whether the level allows an audio service: FULL or LIMITED, and for media apps BACKGROUND as well. Sound may be
  /// sent while the app ``isAudible`` too.
  package func allowsAudio(isMedia: Bool) -> Bool {
    switch level {
    case .full, .limited: true
    case .background: isMedia
    case HMILevel.none?, nil: false
    }
  }

  /// Whether the app's sound is played, perhaps more quietly.
  package var isAudible: Bool { audioStreamingState != .notAudible }
}
