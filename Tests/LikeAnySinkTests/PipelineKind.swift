import Foundation
import GStreamerKit
import SDLMessages

@testable import PluginTestSupport

/// The sinks of a pipeline, as for gst-launch.
struct Sinks {
  /// For raw pictures.
  var video: String
  /// For H.264, and for an appsrc, which asks for an allocation without caps: fakevideosink takes neither.
  var anyVideo: String
  var sound: String

  /// What the sinks are compared with.
  static let fake = Sinks(
    video: "fakevideosink name=sink", anyVideo: "fakesink sync=true name=sink", sound: "fakesink sync=true name=sound")

  static func smartDeviceLink(_ uri: String) -> Sinks {
    let video = "sdlvideosink name=sink uri=\(uri)"
    return Sinks(video: video, anyVideo: video, sound: "sdlaudiosink name=sound uri=\(uri)")
  }
}

/// A pipeline of an application.
struct PipelineKind: Sendable {
  /// What the application brings itself, through an appsrc.
  enum Feed {
    case pictures
    /// Each picture without a time stamp.
    case unstampedPictures
    /// Fewer than their time stamps promise, so that all are late.
    case rarePictures
    case sound
  }

  var name: String
  var feed: Feed?
  /// Whether it plays again after READY. gst_parse_launch() links to the pads of a demuxer only once.
  var restarts: Bool
  /// What of the stream is in front of EOS: sound comes by `lead-time` before its time, and each of the pictures without
  /// time stamps waits for 100 ms at most.
  var endAllowance: Duration {
    if feed == .unstampedPictures { return .seconds(2) }
    return name.contains("sound") || name.contains("audio") ? .milliseconds(300) : .zero
  }
  /// A player opens its sinks only on the way to PAUSED.
  var isPlayer = false
  /// As for gst-launch.
  var description: @Sendable (Sinks) throws -> String

  init(
    _ name: String, feed: Feed? = nil, restarts: Bool = true,
    _ description: @escaping @Sendable (Sinks) throws -> String
  ) {
    self.name = name
    self.feed = feed
    self.restarts = restarts
    self.description = description
  }

  static let all = pictures + sources + encoders + files + players + sound + both

  private static let test = "videotestsrc ! \(caps)"
  private static let caps = Picture.caps()
  private static let beep = "audiotestsrc ! audioconvert ! audioresample"
  private static let fast = "x264enc speed-preset=ultrafast key-int-max=15"
}

// MARK: Pictures

extension PipelineKind {
  private static let pictures = [
    PipelineKind("direct") { "videotestsrc ! \($0.video)" },
    PipelineKind("capsfilter") { "\(test) ! \($0.video)" },
    PipelineKind("timeoverlay") { "\(test) ! timeoverlay ! \($0.video)" },
    PipelineKind("tee") { "\(test) ! tee ! \($0.video)" },
    PipelineKind("tee with two branches") {
      "\(test) ! tee name=tee ! queue ! \($0.video) tee. ! queue ! fakesink sync=true"
    },
    PipelineKind("queue") { "\(test) ! queue max-size-buffers=5 ! \($0.video)" },
    PipelineKind("leaky queue") {
      "videotestsrc is-live=true ! \(caps) ! queue max-size-buffers=2 leaky=downstream ! \($0.video)"
    },
    PipelineKind("videoconvertscale") {
      "videotestsrc ! video/x-raw,format=RGB,width=640,height=480 ! videoconvertscale ! \($0.video)"
    },
    PipelineKind("sdlrangefilter") { "\(test) ! videoconvertscale ! sdlrangefilter ! \($0.video)" },
    PipelineKind("identity") { "\(test) ! identity ! \($0.video)" },
    PipelineKind("videorate") { "\(test) ! videorate ! video/x-raw,framerate=15/1 ! \($0.video)" },
    PipelineKind("sync=false") { "\(test) ! identity sleep-time=20000 ! \($0.video) sync=false" },
  ]

  private static let sources = [
    PipelineKind("live") { "videotestsrc is-live=true ! \(caps) ! \($0.video)" },
    PipelineKind("live through queue") {
      "videotestsrc is-live=true ! queue ! videoconvertscale ! \($0.video)"
    },
    PipelineKind("still picture") { "videotestsrc num-buffers=1 ! \(caps) ! \($0.video)" },
    PipelineKind("imagefreeze") { "videotestsrc num-buffers=1 ! \(caps) ! imagefreeze num-buffers=20 ! \($0.video)" },
    PipelineKind("five pictures") { "videotestsrc num-buffers=5 ! \(caps) ! \($0.video)" },
    PipelineKind("appsrc block=true", feed: .pictures) {
      "appsrc name=src format=time block=true max-bytes=230400 ! \($0.anyVideo)"
    },
    PipelineKind("live appsrc", feed: .pictures) {
      "appsrc name=src format=time is-live=true ! videoconvertscale ! \($0.anyVideo)"
    },
    PipelineKind("appsrc without time stamps", feed: .unstampedPictures) {
      "appsrc name=src format=time ! queue ! \($0.anyVideo)"
    },
    PipelineKind("appsrc with rare pictures", feed: .rarePictures) {
      "appsrc name=src format=time ! \($0.anyVideo)"
    },
  ]

  private static let encoders = [
    PipelineKind("x264enc without delay") { "\(test) ! \(fast) tune=zerolatency ! \($0.anyVideo)" },
    PipelineKind("x264enc with look-ahead") { "\(test) ! \(fast) rc-lookahead=10 ! \($0.anyVideo)" },
    PipelineKind("timeoverlay and x264enc") {
      "\(test) ! timeoverlay ! \(fast) tune=zerolatency ! h264parse ! \($0.anyVideo)"
    },
    PipelineKind("x264enc between queues") {
      """
      \(test) ! queue max-size-buffers=3 ! \(fast) rc-lookahead=5 ! queue max-size-buffers=3 ! h264parse \
      ! \($0.anyVideo)
      """
    },
    PipelineKind("live x264enc") {
      "videotestsrc is-live=true ! \(caps) ! \(fast) tune=zerolatency ! \($0.anyVideo)"
    },
  ]
}

// MARK: Files

extension PipelineKind {
  private static let files = [
    PipelineKind("H.264 file") { "filesrc location=\(try Films.h264.get()) ! h264parse ! \($0.anyVideo)" },
    PipelineKind("MP4 file", restarts: false) {
      "filesrc location=\(try Films.mp4.get()) ! qtdemux ! h264parse ! \($0.anyVideo)"
    },
    PipelineKind("Matroska file", restarts: false) {
      "filesrc location=\(try Films.matroska.get()) ! matroskademux ! queue ! h264parse ! \($0.anyVideo)"
    },
    PipelineKind("decodebin", restarts: false) {
      "filesrc location=\(try Films.mp4.get()) ! decodebin ! videoconvertscale ! \($0.video)"
    },
    PipelineKind("decodebin3", restarts: false) {
      "filesrc location=\(try Films.mp4.get()) ! decodebin3 ! videoconvertscale ! \($0.video)"
    },
    PipelineKind("uridecodebin", restarts: false) {
      "uridecodebin uri=file://\(try Films.wide.get()) ! timeoverlay ! videoconvertscale ! \($0.video)"
    },
  ]

  private static let players = ["playbin", "playbin3"].flatMap { player in
    [
      PipelineKind(player: player, "") { try Films.mp4.get() },
      PipelineKind(player: player, " that scales") { try Films.wide.get() },
      PipelineKind(player: player, " with sound") { try Films.withSound.get() },
    ]
  }

  private init(player: String, _ film: String, _ path: @escaping @Sendable () throws -> String) {
    self.init(player + film) { sinks in
      #"\#(player) uri=file://\#(try path()) video-sink="\#(sinks.video)" audio-sink="\#(sinks.sound)""#
    }
    isPlayer = true
  }
}

// MARK: Sound

extension PipelineKind {
  private static let sound = [
    PipelineKind("audiotestsrc") { "\(beep) ! \($0.sound)" },
    PipelineKind("audiotestsrc and capsfilter") {
      "audiotestsrc samplesperbuffer=320 ! \(SoundSource.caps(.init())) ! \($0.sound)"
    },
    PipelineKind("live audiotestsrc") { "audiotestsrc is-live=true ! audioconvert ! audioresample ! \($0.sound)" },
    PipelineKind("audiotestsrc and queue") { "\(beep) ! queue max-size-buffers=3 ! \($0.sound)" },
    PipelineKind("five buffers of sound") {
      "audiotestsrc num-buffers=5 ! audioconvert ! audioresample ! \($0.sound)"
    },
    PipelineKind("sound with sync=false") { "\(beep) ! identity sleep-time=20000 ! \($0.sound) sync=false" },
    PipelineKind("appsrc with sound", feed: .sound) {
      "appsrc name=src format=time block=true max-bytes=6400 ! \($0.sound)"
    },
  ]

  private static let both = [
    PipelineKind("picture and sound") { "\(test) ! \($0.video) \(beep) ! \($0.sound)" },
    PipelineKind("live picture and sound") {
      """
      videotestsrc is-live=true ! \(caps) ! queue ! \($0.video) \
      audiotestsrc is-live=true ! audioconvert ! audioresample ! queue ! \($0.sound)
      """
    },
    PipelineKind("x264enc and sound") {
      "\(test) ! \(fast) rc-lookahead=5 ! queue ! \($0.anyVideo) \(beep) ! queue ! \($0.sound)"
    },
    PipelineKind("still picture and sound") {
      "videotestsrc num-buffers=1 ! \(caps) ! \($0.video) \(beep) ! \($0.sound)"
    },
    PipelineKind("film with sound", restarts: false) {
      """
      filesrc location=\(try Films.withSound.get()) ! decodebin name=decoder ! queue ! videoconvertscale ! \($0.video) \
      decoder. ! queue ! audioconvert ! audioresample ! \($0.sound)
      """
    },
  ]
}

/// Files that are longer than any case: their paths. Each is made once, and removed when the process ends.
enum Films {
  static let mp4 = Result { try make("mp4") { try Film(in: $0, frameCount: frameCount) } }
  static let matroska = Result {
    try make("matroska") { try Film(in: $0, frameCount: frameCount, container: .matroska) }
  }
  static let h264 = Result { try make("h264") { try Film(in: $0, frameCount: frameCount, container: .none) } }
  static let withSound = Result { try make("sound") { try Film(in: $0, frameCount: frameCount, hasSound: true) } }
  /// Too large for the head unit's screen, so that it is decoded and scaled.
  static let wide = Result {
    try make("wide") { try Film(in: $0, .reordered, frameCount: frameCount, width: 640, height: 360) }
  }

  private static let frameCount = 90

  private static let folder: URL = {
    atexit { try? FileManager.default.removeItem(at: Films.folder) }
    return FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
  }()

  private static func make(_ name: String, _ film: (URL) throws -> Film) throws -> String {
    let folder = folder.appendingPathComponent(name)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return try film(folder).path
  }
}
