import GStreamerKit
import SDLApp
import SDLLink
import X264Encoder

/// Raw video: thinned out, encoded, queued.
extension VideoSink {
  func sendRaw(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ info: GstVideoInfo, _ grant: VideoGrant, _ connection: AppConnection
  ) -> GstFlowReturn {
    let targets = encoderTargets()
    follow(targets)
    let now = MonotonicClock.now
    let runningTime = runningTime(UInt64(buffer.pointee.pts))
    let time = FrameRateLimiter.Time(
      presentation: runningTime == .max ? nil : runningTime, arrival: UInt64(clamping: now.nanoseconds))
    switch input.limiter.judge(time, limit: targets.frameRate, inputRate: input.frameRate) {
    case .due: input.unseen = nil
    case .early(let wait):
      showLater(after: wait, now: now, limit: targets.frameRate)
      return drop(.frameRate)
    }
    // A picture that has no room is better dropped before it is encoded: nothing depends on it yet.
    if isLiveQueueFull(connection) { return drop(.queueFull) }
    do {
      let encoder = try encoder(for: info, targets)
      return try encode(buffer, info, encoder, grant, connection)
    } catch {
      input.closeEncoder()
      fail(.stream(GST_STREAM_ERROR_ENCODE, "The picture could not be encoded: \(error)"))
      return drop(.noPicture, GST_FLOW_ERROR)
    }
  }

  private func isLiveQueueFull(_ connection: AppConnection) -> Bool {
    input.isLive == true && connection.video.isFull
  }

  /// The encoder for what the input is now. Other rates leave a running one in place, until it begins anew anyway and
  /// the stream's headers can be put right.
  private func encoder(for info: GstVideoInfo, _ targets: EncoderTargets) throws(EncoderError) -> X264Encoder {
    let wanted = encoderSettings(info, targets)
    if let encoder = input.encoder, let current = input.encoderSettings, current.differsInRatesOnly(from: wanted) {
      let isNew = encoder.isKeyFrameDue || input.needsKeyFrame
      if !isNew || wanted.frameRate == encoder.settings.frameRate {
        if current == wanted { return encoder }
        // Rates above the stream's level need new headers, hence a new encoder.
        let rates = EncoderRates(bitrate: wanted.bitrate, frameRate: wanted.frameRate)
        if (try? encoder.setRates(rates)) != nil {
          noteTargets(wanted)
          return encoder
        }
      }
    }
    input.closeEncoder()
    let encoder = try X264Encoder(settings: wanted, logLevel: .warning) { level, text in
      Self.log.log(level == .error ? GST_LEVEL_ERROR : GST_LEVEL_WARNING, nil, "x264: \(text)")
    }
    input.encoder = encoder
    noteTargets(wanted)
    input.needsKeyFrame = true
    log(GST_LEVEL_INFO, "encoding \(wanted.width)×\(wanted.height) at \(targets.bitrate) kbit/s")
    return encoder
  }

  private func noteTargets(_ settings: EncoderSettings) {
    input.encoderSettings = settings
    counters.withLock { counters in
      counters.bitrateTarget = UInt64(clamping: settings.bitrate)
      counters.frameRateTarget = Double(settings.frameRate.numerator) / Double(settings.frameRate.denominator)
    }
  }

  private func encoderSettings(_ info: GstVideoInfo, _ targets: EncoderTargets) -> EncoderSettings {
    var info = info
    let user = settings.withLock { $0 }
    return EncoderSettings(
      width: Int(info.width), height: Int(info.height),
      frameRate: FrameRate(input.frameRate.map { min($0, targets.frameRate) } ?? targets.frameRate),
      pixelFormat: PixelFormats.encoderFormat(cgst_video_info_format(&info)) ?? .i420, bitrate: targets.bitrate,
      speedPreset: user.speedPreset, keyFrameInterval: Int(user.keyIntMax), threads: Int(user.threads),
      optionString: user.optionString, color: ColorDescription(info.colorimetry))
  }

  private func encode(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ info: GstVideoInfo, _ encoder: X264Encoder, _ grant: VideoGrant,
    _ connection: AppConnection
  ) throws(EncoderError) -> GstFlowReturn {
    let isRequested = isKeyFrameRequested.exchange(false, ordering: .relaxed)
    let began = MonotonicClock.now
    guard let payload = try encode(buffer, info, encoder, kind: .frame, isKeyFrameRequested: isRequested) else {
      return drop(.noPicture)
    }
    let encodeTime = MonotonicClock.now - began
    counters.withLock { counters in
      counters.frameEncoded(in: encodeTime)
      if isRequested { counters.keyFramesForced += 1 }
    }
    return submit(payload, grant, connection)
  }

  /// Nil when the picture can't be read.
  private func encode(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ info: GstVideoInfo, _ encoder: X264Encoder, kind: FramePayload.Kind,
    isKeyFrameRequested: Bool
  ) throws(EncoderError) -> FramePayload? {
    var info = info
    var frame = GstVideoFrame()
    guard gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ) != 0 else {
      log(GST_LEVEL_WARNING, "a picture could not be mapped")
      return nil
    }
    defer { gst_video_frame_unmap(&frame) }
    guard let planes = Planes(frame) else { return nil }
    let unit = try encoder.encode(
      planes, timestamp: input.pictureNumber, forceKeyFrame: input.needsKeyFrame || isKeyFrameRequested)
    input.pictureNumber += 1
    input.needsKeyFrame = false
    let payload = payloads.take(for: self, kind: kind)
    payload.storeUnits(of: unit.bytes, isKeyFrame: unit.isKeyFrame)
    return payload
  }

  /// Queues the last picture once more; false when there is no room or it can't be encoded.
  func repeatRaw(
    _ picture: UnsafeMutablePointer<GstBuffer>, _ info: GstVideoInfo, _ grant: VideoGrant, _ connection: AppConnection
  ) -> Bool {
    do {
      let encoder = try encoder(for: info, encoderTargets())
      guard let payload = try encode(picture, info, encoder, kind: .repeated, isKeyFrameRequested: false) else {
        return false
      }
      guard submitNow(payload, grant, connection) else {
        input.needsKeyFrame = true
        return false
      }
      return true
    } catch {
      log(GST_LEVEL_WARNING, "the last picture could not be encoded again: \(error)")
      input.closeEncoder()
      return false
    }
  }
}

extension EncoderSettings {
  fileprivate func differsInRatesOnly(from other: EncoderSettings) -> Bool {
    var same = other
    same.bitrate = bitrate
    same.frameRate = frameRate
    return self == same
  }
}

extension Planes {
  /// The planes of a mapped frame; nil when one is missing.
  fileprivate init?(_ frame: GstVideoFrame) {
    let stride = frame.info.stride
    guard let first = frame.data.0, let second = frame.data.1 else { return nil }
    self.init(
      Plane(base: first, stride: Int(stride.0)), Plane(base: second, stride: Int(stride.1)),
      frame.data.2.map { Plane(base: $0, stride: Int(stride.2)) })
  }
}

extension ColorDescription {
  /// GStreamer's colorimetry as H.273 numbers.
  fileprivate init(_ colorimetry: GstVideoColorimetry) {
    self.init(
      colourPrimaries: Int(gst_video_color_primaries_to_iso(colorimetry.primaries)),
      transferCharacteristics: Int(gst_video_transfer_function_to_iso(colorimetry.transfer)),
      matrixCoefficients: Int(gst_video_color_matrix_to_iso(colorimetry.matrix)),
      isFullRange: colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255)
  }
}
