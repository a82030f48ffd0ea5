import GStreamerKit
import X264Encoder

/// libx264: each picture is encoded at once.
final class LinkedEncoder: PictureEncoder {
  private let encoder: X264Encoder
  private var unit: EncodedAccessUnit?
  private(set) var isSettled = false

  init(_ settings: EncoderSettings) throws(EncoderError) {
    encoder = try X264Encoder(settings: settings, logLevel: .warning) { level, text in
      VideoSink.log.log(level == .error ? GST_LEVEL_ERROR : GST_LEVEL_WARNING, nil, "x264: \(text)")
    }
  }

  var settings: EncoderSettings { encoder.settings }

  var nextNumber: Int64? { unit?.timestamp }

  func setRates(_ rates: EncoderRates) throws(EncoderError) {
    try encoder.setRates(rates)
  }

  func isKeyFrameDue(at time: Duration?) -> Bool { encoder.isKeyFrameDue(at: time) }

  func put(
    _ picture: UnsafeMutablePointer<GstBuffer>, _ info: GstVideoInfo, number: Int64, at now: Duration,
    as kind: PictureKind
  ) throws(EncoderError) -> Bool {
    var info = info
    var frame = GstVideoFrame()
    guard gst_video_frame_map(&frame, &info, picture, GST_MAP_READ) != 0 else {
      VideoSink.log.log(GST_LEVEL_WARNING, nil, "a picture could not be mapped")
      return false
    }
    defer { gst_video_frame_unmap(&frame) }
    guard let planes = Planes(frame) else { return false }
    unit = try encoder.encode(planes, timestamp: number, at: now, as: kind)
    return true
  }

  func take(into payload: FramePayload) -> Int64? {
    guard let unit = unit.take() else { return nil }
    isSettled =
      unit.hasFinestQuantizer
      && SettledUnit.changesNothing(
        byteCount: unit.bytes.count, unitCount: unit.unitCount, isKeyFrame: unit.isKeyFrame)
    payload.storeUnits(of: unit.bytes, isKeyFrame: unit.isKeyFrame)
    return unit.timestamp
  }

  func drain() {}
}
