import CGStreamerApp
import GStreamerKit
import Glibc
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// What `sdlheadunitsrc` pushes, in files.
@Suite struct RecordingTests {
  private struct Sample {
    var decoding: UInt64
    var presentation: UInt64
    var duration: UInt64
  }

  /// Records what an app sends at once, until `end` has seen what comes of it.
  private func record(
    _ units: [EncodedUnit], to sink: String, until end: (Pipeline) throws -> Void = { try $0.waitForEnd() }
  ) throws {
    let screen = try Pipeline(
      """
      sdlheadunitsrc name=src port=0 screen-size=320x240 framerate=0 max-bitrate=0 eos-on-disconnect=true \
      ! h264parse ! \(sink)
      """)
    try screen.play()
    let port = try #require(try screen["src"]["current-port"].flatMap { UInt16($0) })
    let app = try RawApp.streaming(port: port)
    for unit in units { app.video(unit.bytes) }
    app.endVideo()
    app.close()
    try end(screen)
    screen.stop()
  }

  private func read(_ path: String, demuxer: String) throws -> [Sample] {
    let reader = try Pipeline("filesrc location=\(path) ! \(demuxer) ! appsink name=out sync=false")
    try reader.play()
    let sink: UnsafeMutablePointer<GstAppSink> = try reader["out"].pointer.cast()
    var samples: [Sample] = []
    while let sample = gst_app_sink_try_pull_sample(sink, GstClockTime(testTimeout.nanoseconds)) {
      if let buffer = gst_sample_get_buffer(sample)?.pointee {
        samples.append(
          Sample(
            decoding: UInt64(buffer.dts), presentation: UInt64(buffer.pts), duration: UInt64(buffer.duration)))
      }
      gst_mini_object_unref(UnsafeMutableRawPointer(sample).assumingMemoryBound(to: GstMiniObject.self))
    }
    return samples
  }

  private func newPath() -> String {
    "\(String(cString: g_get_tmp_dir()))/sdl-recording-\(getpid())-\(UInt64.random(in: 0...(.max)))"
  }

  private func samples(of units: [EncodedUnit], muxer: String, demuxer: String) throws -> [Sample] {
    let path = newPath()
    defer { unlink(path) }
    try record(units, to: "\(muxer) ! filesink location=\(path)") { screen in
      try screen.waitForEnd()
      #expect(try screen["src"].statistics["frames-out"] == units.count)
    }
    return try read(path, demuxer: demuxer)
  }

  private func ranks(_ times: [UInt64]) -> [Int] {
    let order = times.indices.sorted { times[$0] < times[$1] }
    return times.indices.map { index in order.firstIndex(of: index) ?? -1 }
  }

  @Test(arguments: ["tune=zerolatency", "bframes=2 b-adapt=false"])
  func mp4(encoder: String) throws {
    let units = try encodedUnits(40, keyFrameInterval: 20, encoder: encoder, profile: "main")
    let samples = try samples(of: units, muxer: "mp4mux", demuxer: "qtdemux")
    #expect(samples.count == units.count)
    // No sample is empty, also of those that came at once.
    #expect(samples.dropLast().allSatisfy { $0.duration >= 900_000 }, "\(samples.map(\.duration))")
    #expect(zip(samples, samples.dropFirst()).allSatisfy { $1.decoding > $0.decoding })
    #expect(ranks(samples.map(\.presentation)) == ranks(units.map(\.time)))
  }

  @Test(arguments: ["tune=zerolatency", "bframes=2 b-adapt=false"])
  func matroska(encoder: String) throws {
    let units = try encodedUnits(40, keyFrameInterval: 20, encoder: encoder, profile: "main")
    let samples = try samples(of: units, muxer: "matroskamux", demuxer: "matroskademux")
    let times = samples.map(\.presentation)
    #expect(Set(times).count == units.count)
    #expect(ranks(times) == ranks(units.map(\.time)))
  }

  /// What comes after another stream. A file describes all of its pictures by the same parameter sets.
  enum Next: CaseIterable, CustomTestStringConvertible {
    case otherSize, otherProfile, sameStream

    var testDescription: String {
      switch self {
      case .otherSize: "another size"
      case .otherProfile: "another profile in the same size"
      case .sameStream: "the same parameter sets"
      }
    }

    func units(_ count: Int) throws -> [EncodedUnit] {
      switch self {
      case .otherSize: try encodedUnits(count, width: 240, height: 160)
      case .otherProfile: try encodedUnits(count, profile: "main")
      case .sameStream: try encodedUnits(count)
      }
    }
  }

  @Test(arguments: Next.allCases)
  func splitMuxSinkBeginsAFile(next: Next) throws {
    let path = newPath()
    let files = (0...2).map { "\(path)-\($0)" }
    defer { for file in files { unlink(file) } }
    try record(try encodedUnits(20) + next.units(15), to: "splitmuxsink location=\(path)-%d")
    let counts = try files.filter { access($0, F_OK) == 0 }.map { try read($0, demuxer: "qtdemux").count }
    #expect(counts == (next == .sameStream ? [35] : [20, 15]))
  }

  @Test(arguments: ["mp4mux", "matroskamux"], [Next.otherSize, .otherProfile])
  func oneFileEndsInAnError(muxer: String, next: Next) throws {
    var (major, minor, micro, nano) = (guint(0), guint(0), guint(0), guint(0))
    gst_version(&major, &minor, &micro, &nano)
    // Newer than Debian 12's, it takes what Matroska can have.
    if muxer == "matroskamux", minor > 22 { return }
    try record(try encodedUnits(20) + next.units(15), to: "\(muxer) ! fakesink") { screen in
      let error = try screen.waitForError()
      #expect(error.domain == gst_stream_error_quark(), "\(error)")
    }
  }
}
