import CGStreamerApp
import GStreamerKit
import SDLHeadUnit
import SDLMessages
import Testing
import X264Encoder

import struct TestSupport.SeededGenerator

@testable import Plugin
@testable import PluginTestSupport
@testable import SDLLink

/// Raw pictures that an element encodes.
@Suite struct ElementEncoderTests {
  private static let encoders = ["x264enc", "openh264enc"]

  private func harness(_ encoder: String, _ properties: String = "", isLive: Bool = false) throws -> SinkHarness {
    try SinkHarness(
      isLive: isLive, isPlayer: false, properties: "sync=false keep-alive-interval=0 encoder=\(encoder) \(properties)")
  }

  /// Plays some pictures to the end; what the head unit's decoder shows of them.
  private func play(_ count: Int, _ harness: SinkHarness) throws -> [[UInt8]] {
    try harness.start()
    for index in 0..<count { harness.source.push(Picture(320, 240, index).bytes, at: index) }
    harness.source.end()
    try harness.pipeline.waitForEnd()
    let statistics = try harness.statistics
    #expect(statistics["frames-sent"] == count && statistics.areFramesConserved, "\(statistics.fields)")
    return try decode(try harness.headUnit.waitForFrames(count), width: 320, height: 240)
  }

  private func expectPictures(_ decoded: [[UInt8]], _ count: Int) {
    #expect(decoded.count == count)
    for (index, decoded) in decoded.enumerated() {
      let quality = Picture(320, 240, index).psnr(against: decoded)
      #expect(quality > 30, "\(index): \(quality) dB")
    }
  }

  @Test(arguments: encoders) func pictures(_ encoder: String) throws {
    let harness = try harness(encoder, "bitrate=6000")
    expectPictures(try play(30, harness), 30)
    let units = harness.headUnit.record.video
    #expect(try startsStream(units[0]))
    #expect(units.map(isKeyFrame) == (0..<30).map { $0 == 0 })
    #expect(try parameterSet(units[0]).profileIDC == 66)
    #expect(harness.headUnit.record.violations == [])
  }

  @Test(arguments: encoders) func keyFramesOnRequestAndAtTheInterval(_ encoder: String) throws {
    let harness = try harness(encoder, "key-int-max=5", isLive: true)
    try harness.start()
    try harness.deliver(3)
    harness.source.send(gst_video_event_new_downstream_force_key_unit(.max, .max, .max, 1, 0))
    try harness.deliver(7)
    let units = harness.headUnit.record.video
    #expect(units.map(isKeyFrame) == (0..<10).map { [0, 3, 8].contains($0) })
    for unit in units where isKeyFrame(unit) { #expect(try startsStream(unit)) }
  }

  @Test(arguments: [("x264enc", "350", "450"), ("openh264enc", "350000", "450000")])
  func bitrateChangesAtRunTime(_ encoder: String, _ first: String, _ second: String) throws {
    let harness = try harness(encoder, "bitrate=350", isLive: true)
    let setup = EncoderSetup(try harness.pipeline.sink)
    try harness.start()
    try harness.deliver(2)
    #expect(setup.property("bitrate") == first)
    try harness.pipeline.sink.set("bitrate", "450")
    try harness.deliver(2)
    #expect(setup.property("bitrate") == second)
    #expect(try harness.statistics["bitrate-target-kbps"] == 450)
    #expect(setup.count == 1)
    // openh264enc makes a key frame with each change.
    let keyFrames = [true, false, encoder == "openh264enc", false]
    #expect(harness.headUnit.record.video.map(isKeyFrame) == keyFrames)
  }

  /// Where each change costs a key frame, small ones wait for the next one.
  @Test func smallChangesWait() throws {
    let harness = try harness("openh264enc", "bitrate=400", isLive: true)
    let setup = EncoderSetup(try harness.pipeline.sink)
    try harness.start()
    try harness.deliver(2)
    try harness.pipeline.sink.set("bitrate", "390")
    try harness.deliver(2)
    #expect(setup.property("bitrate") == "400000")
    harness.source.send(gst_video_event_new_downstream_force_key_unit(.max, .max, .max, 1, 0))
    try harness.deliver(2)
    #expect(setup.property("bitrate") == "390000")
    #expect(harness.headUnit.record.video.map(isKeyFrame) == [true, false, false, false, true, false])
  }

  /// A live stream of noise over a link that carries less than a fifth of it.
  @Test(arguments: [("x264enc", 1000), ("openh264enc", 1_000_000)])
  func bitrateFollowsTheLink(_ encoder: String, _ half: Int) throws {
    let headUnit = try TestHeadUnit(.small(maximumBitrate: nil))
    let link = try NarrowLink(to: headUnit, bitsPerSecond: 8_000_000)
    let pipeline = try Pipeline(
      """
      appsrc name=src format=time is-live=true do-timestamp=true ! sdlvideosink name=sink uri=\(link.uri) sync=false \
      bitrate=2000 min-bitrate=100 encoder=\(encoder)
      """)
    let source = try FrameSource(pipeline, caps: Picture.caps(), frameRate: 30)
    let setup = EncoderSetup(try pipeline.sink)
    var generator = SeededGenerator(seed: 1)
    let noise = generator.bytes(320 * 250 * 3 / 2, in: 64...192)
    var index = 0
    let push = {
      source.push(Array(noise.dropFirst(index % 8 * 397).prefix(320 * 240 * 3 / 2)), at: index)
      index += 1
    }
    try pipeline.play()
    let hasBegun = eventually {
      push()
      return headUnit.record.video.count > 5
    }
    #expect(hasBegun)
    link.set(bitsPerSecond: 300_000)
    let hasFollowed = eventually {
      push()
      return setup.property("bitrate").flatMap { Int($0) }.map { $0 < half } ?? false
    }
    #expect(hasFollowed, "\(setup.property("bitrate") ?? "")")
    #expect(setup.count == 1)
  }

  @Test(arguments: encoders) func resizes(_ encoder: String) throws {
    let size = VideoSize(480, 320)
    let harness = try ResizeHarness(properties: "keep-alive-interval=0 encoder=\(encoder)")
    try harness.start()
    harness.resize(size)
    try harness.pipeline.waitForElementMessage("sdl-resized")
    try harness.waitForFrames(10, of: size)
    harness.expectNoComplaint()
    harness.pipeline.stop()
    #expect(try harness.statistics.areFramesConserved)
    try harness.expectDecodable()
  }

  /// They are refined for a while, and then left out.
  @Test(arguments: encoders) func unchangedPictures(_ encoder: String) throws {
    let harness = try harness(encoder, "bitrate=2000 key-int-max=100000")
    try harness.pipeline.play()
    let picture = Picture(320, 240, 1)
    for _ in 0..<300 { harness.push(picture.bytes) }
    harness.source.end()
    try harness.pipeline.waitForEnd()
    let statistics = try harness.statistics
    #expect(statistics["frames-unchanged"] >= 100 && statistics.areFramesConserved, "\(statistics.fields)")
    let decoded = try decode(
      try harness.headUnit.waitForFrames(statistics["frames-sent"]), width: 320, height: 240)
    let quality = picture.psnr(against: try #require(decoded.last))
    #expect(quality > 35, "\(quality) dB")
  }

  /// The picture stands still, and is sent again.
  @Test(arguments: encoders) func keepAlive(_ encoder: String) throws {
    let harness = try SinkHarness(properties: "sync=false keep-alive-interval=50 encoder=\(encoder)")
    try harness.start()
    try harness.deliver(1)
    let units = try harness.headUnit.waitForFrames(4)
    #expect(try decode(units, width: 320, height: 240).count == units.count)
    #expect(eventually { (try? harness.statistics["frames-repeated"]).map { $0 >= 3 } ?? false })
  }

  // MARK: Elements that do not do what most do

  private func holdsBack(_ encoder: Element, _ count: Int) {
    encoder.set("tune", "0")
    encoder.set("threads", "1")
    encoder.set("sync-lookahead", "0")
    encoder.set("rc-lookahead", "\(count)")
    encoder.set("mb-tree", "true")
  }

  @Test func heldBackPicturesComeLater() throws {
    let harness = try harness("x264enc", "bitrate=6000")
    let setup = EncoderSetup(try harness.pipeline.sink) { self.holdsBack($0, 3) }
    expectPictures(try play(30, harness), 30)
    #expect(setup.count == 1)
  }

  @Test func liveHeldBackPicturesComeLater() throws {
    let harness = try harness("x264enc", isLive: true)
    _ = EncoderSetup(try harness.pipeline.sink) { self.holdsBack($0, 3) }
    try harness.start()
    // On a busy machine the link is not ready for each of them.
    #expect(
      eventually {
        harness.pushPicture()
        return harness.headUnit.record.video.count >= 15
      })
    let units = harness.headUnit.record.video
    #expect(try decode(units, width: 320, height: 240).count == units.count)
    harness.source.end()
    try harness.pipeline.waitForEnd()
    #expect(try harness.statistics.areFramesConserved)
  }

  @Test func tooManyPicturesHeldBack() throws {
    let harness = try harness("x264enc")
    _ = EncoderSetup(try harness.pipeline.sink) { self.holdsBack($0, 40) }
    try harness.pipeline.play()
    harness.pushPictures(20)
    let error = try harness.pipeline.waitForError()
    #expect(error.isStream(GST_STREAM_ERROR_ENCODE) && error.text.contains("x264enc has no output"), "\(error)")
    harness.pipeline.stop()
    #expect(try harness.statistics.areFramesConserved)
  }

  /// Nothing comes out of it at all.
  @Test(arguments: [true, false]) func silentEncoder(isLive: Bool) throws {
    let harness = try harness("openh264enc", isLive: isLive)
    _ = EncoderSetup(try harness.pipeline.sink) { encoder in
      guard let pad = try? encoder.pad("src") else { return }
      gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, { _, _, _ in GST_PAD_PROBE_DROP }, nil, nil)
    }
    try harness.pipeline.play()
    var error: BusMessage.Fault?
    let hasFailed = eventually {
      harness.pushPicture()
      error = harness.pipeline.drain().lazy.compactMap(\.error).first
      return error != nil
    }
    try #require(hasFailed)
    let fault = try #require(error)
    #expect(fault.isStream(GST_STREAM_ERROR_ENCODE) && fault.text.contains("openh264enc has no output"), "\(fault)")
    harness.pipeline.stop()
    #expect(try harness.statistics.areFramesConserved)
    #expect(harness.headUnit.record.video.isEmpty)
  }

  /// A new one takes its place, whose first picture is a key frame.
  @Test(arguments: encoders) func deafEncoder(_ encoder: String) throws {
    let harness = try harness(encoder, isLive: true)
    let setup = EncoderSetup(try harness.pipeline.sink) { encoder in
      guard let pad = try? encoder.pad("src") else { return }
      gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, { _, _, _ in GST_PAD_PROBE_DROP }, nil, nil)
    }
    try harness.start()
    try harness.deliver(2)
    // The next service begins with a key frame.
    try harness.headUnit.show(.background)
    try harness.pipeline.waitForElementMessage("sdl-stream-stopped")
    try harness.headUnit.show(.full)
    let count = harness.headUnit.record.video.count
    #expect(
      eventually {
        harness.pushPicture()
        return harness.headUnit.record.video.count > count
      })
    #expect(try startsStream(harness.headUnit.record.video[count]))
    #expect(setup.count == 2)
    #expect(harness.headUnit.record.violations == [])
  }

  @Test func failingEncoder() throws {
    let harness = try harness("openh264enc")
    _ = EncoderSetup(try harness.pipeline.sink) { encoder in
      let error = g_error_new_literal(gst_stream_error_quark(), gint(GST_STREAM_ERROR_ENCODE.rawValue), "It is on fire")
      gst_element_post_message(encoder.pointer, gst_message_new_error(encoder.pointer.cast(), error, nil))
      g_error_free(error)
    }
    try harness.pipeline.play()
    harness.pushPictures(2)
    let error = try harness.pipeline.waitForError()
    #expect(error.isStream(GST_STREAM_ERROR_ENCODE) && error.text.contains("It is on fire"), "\(error)")
  }

  /// Its chain function does not return: because its pad is blocked, which a flush ends, or for a reason that nothing
  /// ends.
  @Test(arguments: [true, false]) func blockedEncoder(endsWithAFlush: Bool) throws {
    let gate = Monitor(false)
    let harness = try harness("openh264enc", "keep-alive-interval=20")
    let setup = EncoderSetup(try harness.pipeline.sink) { encoder in
      guard let pad = try? encoder.pad("sink") else { return }
      if endsWithAFlush {
        let type = GstPadProbeType(GST_PAD_PROBE_TYPE_BLOCK.rawValue | GST_PAD_PROBE_TYPE_BUFFER.rawValue)
        gst_pad_add_probe(pad, type, { _, _, _ in GST_PAD_PROBE_OK }, nil, nil)
      } else {
        gst_pad_add_probe(
          pad, GST_PAD_PROBE_TYPE_BUFFER,
          { _, _, data in
            guard let data else { return GST_PAD_PROBE_DROP }
            let gate = Unmanaged<Monitor<Bool>>.fromOpaque(data).takeUnretainedValue()
            gate.wait(atLatest: MonotonicClock.now + .seconds(60)) { $0 }
            return GST_PAD_PROBE_DROP
          }, Unmanaged.passRetained(gate).toOpaque(),
          { data in if let data { Unmanaged<Monitor<Bool>>.fromOpaque(data).release() } })
      }
    }
    try harness.pipeline.play()
    harness.pushPictures(3)
    let error = try harness.pipeline.waitForError()
    #expect(error.isStream(GST_STREAM_ERROR_ENCODE) && error.text.contains("openh264enc has not returned"), "\(error)")
    // No second one, on either thread, with which a stop would have to wait as long again.
    harness.watch(for: .milliseconds(200))
    #expect(setup.count == 1)
    harness.pipeline.stop()
    #expect(try harness.statistics.areFramesConserved)
    // The test's reference is the last one once the element has been given up.
    #expect(endsWithAFlush ? eventually { setup.isReleased } : !setup.isReleased)
    gate.withLock { $0 = true }
    gate.broadcast()
    #expect(eventually { setup.isReleased })
  }

  // MARK: The choice

  @Test(arguments: [
    ("nothere", "There is no element nothere"), ("fakesink", "fakesink does not encode H.264"),
    ("theoraenc", "theoraenc does not encode H.264"),
  ]) func unusable(_ encoder: String, _ text: String) throws {
    let harness = try harness(encoder)
    harness.pipeline.setState(GST_STATE_PLAYING)
    let error = try harness.pipeline.waitForError()
    #expect(error.isLibrary(GST_LIBRARY_ERROR_SETTINGS) && error.text.contains(text), "\(error)")
  }

  /// Upstream hears what the encoder takes, also before the head unit is known, and an application that does not ask
  /// gets an error.
  @Test func formatsOfTheEncoder() throws {
    let headUnit = try TestHeadUnit(.small())
    let pipeline = try Pipeline(
      """
      videotestsrc num-buffers=5 ! capsfilter caps="video/x-raw,format={NV12,I420}" ! sdlvideosink name=sink sync=false \
      uri=\(headUnit.uri) encoder=openh264enc
      """)
    try pipeline.play()
    try pipeline.waitForEnd()
    let sink = try Element("sdlvideosink")
    sink.set("encoder", "openh264enc")
    let caps = try sink.sinkCaps()
    #expect(caps.contains("I420") && !caps.contains("NV12"))
    let refused = try SinkHarness(
      isLive: false, caps: Picture.caps(format: .nv12), properties: "sync=false encoder=openh264enc")
    try refused.pipeline.play()
    refused.pushPicture()
    let error = try refused.pipeline.waitForError()
    #expect(error.isStream(GST_STREAM_ERROR_FORMAT) && error.text.contains("openh264enc does not accept"), "\(error)")
  }

  @Test(.enabled(if: isX264LinkedIn)) func x264IsTheDefault() throws {
    #expect(try EncoderChoice("auto") == .linked)
    #expect(try EncoderChoice("x264") == .linked)
    #expect(try Element("sdlvideosink")["encoder"] == "auto")
  }

  /// No hardware is there, so x264enc is the first of the table.
  @Test(.enabled(if: !isX264LinkedIn)) func firstOfTheTable() throws {
    let harness = try SinkHarness(isLive: false, properties: "sync=false bitrate=6000")
    let setup = EncoderSetup(try harness.pipeline.sink)
    expectPictures(try play(10, harness), 10)
    #expect(setup.property("name")?.hasPrefix("x264enc") == true)
    #expect(throws: ElementError.self) { try EncoderChoice("x264") }
  }

  /// No caps are accepted.
  private static func refuseEvents(_ pad: UnsafeMutablePointer<GstPad>) {
    gst_pad_set_event_function_full(
      pad,
      { _, _, event in
        gst_event_unref(event)
        return 0
      }, nil, nil)
  }

  /// One that can't be used is passed over.
  @Test(.enabled(if: !isX264LinkedIn), arguments: [true, false]) func nextOfTheTable(failsAtTheStart: Bool) throws {
    let harness = try SinkHarness(isLive: false, properties: "sync=false bitrate=6000")
    let setup = EncoderSetup(try harness.pipeline.sink) { encoder in
      guard encoder["name"]?.hasPrefix("x264enc") == true, let pad = try? encoder.pad("sink") else { return }
      if failsAtTheStart {
        Self.refuseEvents(pad)
      } else {
        gst_pad_set_chain_function_full(
          pad,
          { _, _, buffer in
            gst_buffer_unref(buffer)
            return GST_FLOW_NOT_NEGOTIATED
          }, nil, nil)
      }
    }
    expectPictures(try play(10, harness), 10)
    #expect(setup.property("name")?.hasPrefix("openh264enc") == true)
    #expect(setup.count == 2)
  }

  /// Upstream changes to a format of the next one, or can't.
  @Test(.enabled(if: !isX264LinkedIn), arguments: [true, false]) func nextOfTheTableInAnotherFormat(
    canChange: Bool
  ) throws {
    let headUnit = try TestHeadUnit(.small())
    let pipeline = try Pipeline(
      """
      videotestsrc ! video/x-raw,format=NV12 ! \(canChange ? "videoconvert" : "identity") ! queue ! \
      sdlvideosink name=sink sync=false uri=\(headUnit.uri)
      """)
    // Only the first one takes NV12.
    let setup = EncoderSetup(try pipeline.sink) { encoder in
      guard encoder["name"]?.hasPrefix("x264enc") == true, let pad = try? encoder.pad("sink") else { return }
      Self.refuseEvents(pad)
    }
    try pipeline.play()
    if canChange {
      _ = try headUnit.waitForFrames(10)
      #expect(setup.property("name")?.hasPrefix("openh264enc") == true)
      #expect(setup.count == 2)
    } else {
      let error = try pipeline.waitForError()
      #expect(error.isStream(GST_STREAM_ERROR_ENCODE) && error.text.contains("x264enc has refused"), "\(error)")
    }
  }

  /// Nothing is left to try.
  @Test(.enabled(if: !isX264LinkedIn)) func noneOfTheTable() throws {
    let harness = try SinkHarness(isLive: false, properties: "sync=false")
    _ = EncoderSetup(try harness.pipeline.sink) { encoder in
      guard let pad = try? encoder.pad("sink") else { return }
      gst_pad_set_chain_function_full(
        pad,
        { _, _, buffer in
          gst_buffer_unref(buffer)
          return GST_FLOW_NOT_NEGOTIATED
        }, nil, nil)
    }
    try harness.pipeline.play()
    harness.pushPictures(2)
    let error = try harness.pipeline.waitForError()
    #expect(
      error.isStream(GST_STREAM_ERROR_ENCODE) && error.text.contains("x264enc has refused")
        && error.text.contains("openh264enc has refused"), "\(error)")
  }

  /// Without any encoder the sink offers H.264 alone, and says what to install when raw video comes all the same.
  @Test func noEncoder() throws {
    _ = try Element("sdlvideosink")
    guard let raw = Caps(Picture.caps()),
      let offer = Caps("video/x-raw,format=I420;video/x-h264,stream-format=byte-stream")
    else { throw TestFailure("no caps") }
    let reason = try #require(EncoderChoice.rejectionReason(of: raw.pointer, by: nil))
    #expect(reason.text.contains("install"))
    #expect(EncoderChoice.restrict(offer, to: nil).text == "video/x-h264, stream-format=(string)byte-stream")
  }
}
