import GStreamerKit
import SDLApp

extension AppPermissions {
  /// The property `permissions` of an app with `settings`.
  func structure(_ settings: AppSettings) -> Structure {
    let rows = [
      ("touches", "touch-levels", touchLevels), ("haptic-rectangles", "haptic-levels", hapticLevels),
      ("keys", "key-levels", buttonLevels), ("video", "video-levels", settings.videoLevels),
      ("audio", "audio-levels", settings.audioLevels),
    ]
    let structure = Structure("application/x-sdl-permissions")
    for (name, field, levels) in rows {
      structure.set(name, !levels.isEmpty)
      structure.set(field, levels.map { "\($0.row.nick)" }.joined(separator: ", "))
    }
    return structure
  }
}

/// Where SDL Core lets an app of this kind stream, if it lets the driver see and hear it: no policy changes that.
extension AppSettings {
  fileprivate var videoLevels: [HMILevel] {
    guard type != .media else { return [] }
    return HMILevel.allCases.filter { HMIStatus(level: $0, videoStreamingState: .streamable).allowsVideo }
  }

  fileprivate var audioLevels: [HMILevel] {
    guard type == .navigation || isMedia else { return [] }
    return HMILevel.allCases.filter {
      HMIStatus(level: $0, videoStreamingState: .streamable).allowsAudio(isMedia: isMedia)
    }
  }
}
