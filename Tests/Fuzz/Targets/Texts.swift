import SDLHeadUnit
import SDLMessages
import SDLWire

extension FuzzTarget {
  /// What people and peers write: scripts and commands, texts of options, files of sound and tracks, names that are shown.
  static let texts = [
    FuzzTarget("scripts", bytesPerInputByte: 64) { bytes in
      let text = String(decoding: bytes, as: UTF8.self)
      _ = try? HeadUnitScript(text)
      _ = try? HeadUnitCommand.parse(text)
    },
    FuzzTarget("options", bytesPerInputByte: 64) { bytes in
      let text = String(decoding: bytes, as: UTF8.self)
      if let size = VideoSize(text: text) { rule(VideoSize(text: size.text) == size, "another size") }
      if let size = SizeWithScale(text: text) { rule(SizeWithScale(text: size.description) == size, "another scale") }
      if let format = VideoStreamingFormat(text: text) { rule(format.text == text, "another format") }
      _ = (PCMFormat(text: text), ProtocolVersion(text), FunctionID(name: text), TransportClass(protocolName: text))
      let printable = text.printable(limit: 100)
      rule(printable.unicodeScalars.count <= 1001, "a text beyond its bound")
      rule(!printable.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }, "a control character")
    },
    FuzzTarget("recordings", bytesPerInputByte: 512) { bytes in
      guard let recording = try? ConversationRecording(parsing: bytes) else { return }
      _ = Replay(recording, speed: 2)
      var configuration = HeadUnitPreset.standard.configuration
      configuration.adopt(recording)
    },
    FuzzTarget("policies", bytesPerInputByte: 512) { _ = try? PolicyTable(parsing: $0) },
    FuzzTarget("gpx", bytesPerInputByte: 32) { bytes in
      guard let points = (try? GPXTrack(bytes))?.points else { return }
      rule(!points.isEmpty && points.count <= bytes.count, "points of no bytes")
      rule(zip(points, points.dropFirst()).allSatisfy { $0.offset <= $1.offset }, "a drive back in time")
    },
    FuzzTarget("wav", bytesPerInputByte: 4) { _ = WAVSound($0) },
  ]
}
