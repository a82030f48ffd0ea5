import GStreamerKit
import SDLMessages
import SDLWire
import Testing

@testable import Plugin
@testable import PluginTestSupport
@testable import SDLApp

/// The names that applications find in structures and messages, and those that they give, as the elements' pages have
/// them: here both ends would change together.
@Suite struct FieldNamesTests {
  /// An element without an app, and what it posts.
  private final class Bench {
    let element: Element
    let sink: VideoSink
    private let bus: UnsafeMutablePointer<GstBus>

    init() throws {
      element = try Element("sdlvideosink")
      sink = VideoSink(element.pointer.cast())
      bus = try nonNull(gst_bus_new())
      gst_element_set_bus(sink.gstElement, bus)
    }

    deinit {
      gst_element_set_bus(sink.gstElement, nil)
      gst_object_unref(bus)
    }

    func takeMessage() throws -> BusMessage {
      let message = try nonNull(gst_bus_pop(bus))
      defer { gst_message_unref(message) }
      return BusMessage(message)
    }
  }

  private func read(_ structure: consuming Structure) -> (name: String, fields: [String: String]) {
    let pointer = structure.take()
    defer { gst_structure_free(pointer) }
    return (gst_structure_get_name(pointer).map { String(cString: $0) } ?? "", fields(of: pointer))
  }

  @Test func headUnit() throws {
    // Its plugin registers the types.
    _ = try Element("sdlvideosink")
    var acknowledgement = RPCServiceAcknowledgement()
    acknowledgement.make = "Make"
    acknowledgement.model = "Model"
    acknowledgement.modelYear = "2019"
    acknowledgement.trim = "Trim"
    acknowledgement.systemSoftwareVersion = "S1"
    acknowledgement.systemHardwareVersion = "H1"
    var info = HeadUnitInfo(acknowledgement, protocolVersion: ProtocolVersion(5, 4))
    info.rpcVersion = RPCVersion(8)
    let structure = read(info.structure)
    #expect(structure.name == "application/x-sdl-head-unit")
    #expect(
      structure.fields == [
        "make": "Make", "model": "Model", "model-year": "2019", "trim": "Trim", "software-version": "S1",
        "hardware-version": "H1", "protocol-version": "5.4.0", "rpc-version": "8.0.0",
      ])
  }

  @Test func capabilitiesOfTheHeadUnit() throws {
    _ = try Element("sdlvideosink")
    var info = HeadUnitInfo(RPCServiceAcknowledgement(), protocolVersion: ProtocolVersion(5))
    info.announcedPCMFormat = PCMFormat(samplingRate: .hertz8000, sampleSize: .bits8)
    var capability = VideoStreamingCapability()
    capability.preferredResolution = VideoSize(800, 480)
    capability.maxBitrate = 10_000
    capability.preferredFPS = 30
    capability.scale = 1.5
    capability.diagonalScreenSize = 8
    capability.pixelPerInch = 120
    capability.hapticSpatialDataSupported = true
    capability.supportedFormats = [.rawH264, .rtpH264]
    capability.additionalCapabilities = [VideoStreamingCapability(), VideoStreamingCapability()]
    info.videoCapability = capability
    let fields = read(info.structure).fields.mapValues { $0.replacing("\\", with: "") }
    let audio = try #require(fields["audio-capability"])
    for part in ["application/x-sdl-audio-capability", "format=(string)U8", "rate=(int)8000"] {
      #expect(audio.contains(part), "\(audio)")
    }
    let video = try #require(fields["video-capability"])
    let parts = [
      "application/x-sdl-video-capability", "width=(int)800", "height=(int)480", "max-bitrate=(int)10000",
      "preferred-fps=(int)30", "scale=(double)1.5", "diagonal=(double)8", "pixels-per-inch=(double)120",
      "haptics=(boolean)true", "RAW/H264, RTP/H264", "formats=", "additional-capabilities=(guint64)2",
    ]
    for part in parts { #expect(video.contains(part), "\(video)") }
  }

  @Test func systemRequest() throws {
    let bench = try Bench()
    let parameters: JSONObject = [
      "requestType": .string("OEM_SPECIFIC"), "requestSubType": .string("A"), "url": .string("https://a.example/"),
      "timeout": .integer(3), "fileType": .string("JSON"),
    ]
    bench.sink.postSystemRequest(
      OnSystemRequest(
        RPCMessage(
          type: .notification, function: .onSystemRequest, correlationID: 0, parameters: parameters, bulk: [1])))
    var message = try bench.takeMessage()
    #expect(message.isElement("sdl-system-request") && message.fields.removeValue(forKey: "body") != nil)
    #expect(
      message.fields == [
        "request-type": "OEM_SPECIFIC", "request-subtype": "A", "url": "https://a.example/", "timeout-ms": "3000",
        "file-type": "JSON", "headers": "{}",
      ])
  }

  private static let position = TouchPosition(x: 3, y: 4)

  @Test(
    arguments: [
      (.tap(position), ["type": "tap"]), (.doubleTap(position), ["type": "double-tap"]),
      (.panStart(position), ["type": "pan-start"]), (.panEnd(position), ["type": "pan-end"]),
      (.pan(from: TouchPosition(x: 1, y: 2), to: position), ["type": "pan", "from-x": "1", "from-y": "2"]),
      (.panCancel(position), ["type": "pan-cancel"]), (.pinchStart(position), ["type": "pinch-start"]),
      (.pinch(center: position, scale: 1.5), ["type": "pinch", "scale": "1.5"]),
      (.pinchEnd(position), ["type": "pinch-end"]), (.pinchCancel(position), ["type": "pinch-cancel"]),
    ] as [(Gesture, [String: String])])
  func gestures(gesture: Gesture, fields: [String: String]) throws {
    let bench = try Bench()
    bench.sink.postGesture(gesture)
    let message = try bench.takeMessage()
    #expect(message.isElement("sdl-gesture"))
    #expect(message.fields == fields.merging(["x": "3", "y": "4"]) { $1 })
  }

  /// `FileType` of the RPC specification. Without an app no file is sent, but the reason is another one.
  @Test(
    arguments: [
      "GRAPHIC_BMP", "GRAPHIC_JPEG", "GRAPHIC_PNG", "AUDIO_WAVE", "AUDIO_MP3", "AUDIO_AAC", "BINARY", "JSON", "TEXT",
    ])
  func typesOfFiles(type: String) throws {
    let bench = try Bench()
    #expect(bench.element.emit("put-file", "a", type, [UInt8]([1]), false) == 0)
    let error = try #require(try bench.takeMessage().fields["error"])
    #expect(error.contains("a file's type is one of") == (type == "TEXT"), "\(error)")
  }
}
