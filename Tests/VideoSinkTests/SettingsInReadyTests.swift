import CGStreamerApp
import GStreamerKit
import Testing
import X264Encoder

@testable import Plugin
@testable import PluginTestSupport

@Suite struct SettingsInReadyTests {
  @Test(arguments: [("uri", "sdl://car:0"), ("uri", "http://car"), ("option-string", "bframes=2")])
  func whatCannotWorkFailsTheNextStep(_ name: String, _ value: String) throws {
    let pipeline = try Pipeline("videotestsrc ! sdlvideosink name=sink")
    try pipeline.reach(GST_STATE_READY)
    try pipeline.sink.set(name, value)
    #expect(pipeline.setState(GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE)
    let error = try pipeline.waitForError()
    #expect(error.isResource(GST_RESOURCE_ERROR_SETTINGS) || error.isLibrary(GST_LIBRARY_ERROR_SETTINGS), "\(error)")
    #expect(error.text.contains(name), "\(error)")
    #expect(pipeline.drain().count { $0.error != nil } == 1)
    #expect(try pipeline.sink["connection-state"] != "failed")
  }

  @Test func bitrateGoesAsFarAsTheEncoder() throws {
    let sink = try Element("sdlvideosink")
    let objectClass = UnsafeMutableRawPointer(sink.pointer.pointee.object.object.g_type_instance.g_class)
      .assumingMemoryBound(to: GObjectClass.self)
    let spec = try #require(g_object_class_find_property(objectClass, "bitrate"))
    let maximum = UnsafeMutableRawPointer(spec).assumingMemoryBound(to: GParamSpecUInt.self).pointee.maximum
    #expect(Int(maximum) == EncoderSettings.bitrateRange.upperBound)
    sink.set("bitrate", "\(EncoderSettings.bitrateRange.upperBound)")
    #expect(sink["bitrate"] == "\(EncoderSettings.bitrateRange.upperBound)")
  }
}
