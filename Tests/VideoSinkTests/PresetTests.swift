import CGStreamerApp
import Foundation
import GStreamerKit
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// The presets that are installed with the plugin.
@Suite struct PresetTests {
  @Test func everyPresetFits() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../../packaging/GstSdlVideoSink.prs")
    let text = try String(contentsOf: file, encoding: .utf8)
    var names: [String] = []
    let sink = try Element("sdlvideosink")
    for line in text.split(separator: "\n") {
      if line.hasPrefix("[") {
        names.append(line.trimmingCharacters(in: ["[", "]"]))
      } else if names.last != "_presets_", !line.hasPrefix("_meta/") {
        let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
        try #require(parts.count == 2)
        sink.set(parts[0], parts[1])
        #expect(sink[parts[0]] == parts[1], "\(line)")
      }
    }
    #expect(names == ["_presets_", "Low latency", "Sharp map", "Film", "Weak processor"])
    #expect(g_type_is_a(VideoSink.type, gst_preset_get_type()) != 0)
  }
}
