import GStreamerKit
import SDLMessages
import Testing
import X264Encoder

@testable import Plugin
@testable import PluginTestSupport

@Suite struct MetadataTests {
  private func metadata(_ key: String) throws -> String {
    let element = try Element("sdlvideosink")
    let factory = try nonNull(gst_element_get_factory(element.pointer))
    return try #require(gst_element_factory_get_metadata(factory, key).map { String(cString: $0) })
  }

  @Test func strings() throws {
    #expect(try metadata(GST_ELEMENT_METADATA_LONGNAME) == "SmartDeviceLink Video Sink")
    #expect(try metadata(GST_ELEMENT_METADATA_KLASS) == "Sink/Video/Network")
    #expect(try metadata(GST_ELEMENT_METADATA_DESCRIPTION).contains("SmartDeviceLink"))
    #expect(try metadata(GST_ELEMENT_METADATA_AUTHOR) == "The gst-smartdevicelink authors")
  }

  @Test func itIsThisBuildsElement() throws {
    let element = try Element("sdlvideosink")
    let factory = try nonNull(gst_element_get_factory(element.pointer))
    #expect(gst_element_factory_get_element_type(factory) == VideoSink.type)
    #expect(gst_plugin_feature_get_rank(factory) == 0)
  }

  @Test func typesHaveTheProjectsPrefix() throws {
    #expect(GStreamer.isReady)
    #expect(String(cString: g_type_name(VideoSink.type)) == "GstSdlVideoSink")
    for (type, name) in [
      (AppType.objectType.type, "GstSdlAppType"),
      (ConnectionState.objectType.type, "GstSdlConnectionState"),
      (HMILevel.objectType.type, "GstSdlHMILevel"),
      (SpeedPreset.objectType.type, "GstSdlVideoSinkSpeedPreset"),
    ] {
      #expect(String(cString: g_type_name(type)) == name)
      #expect(gst_type_is_plugin_api(type, nil) != 0)
    }
  }
}
