/// Whether sound and video get their turns on one transport: sound goes first, and after each of its payloads one frame
/// of video.
struct MediaFairness {
  /// When a payload was queued.
  struct Place {
    /// Payloads of the same medium that were queued before it.
    var ahead: Int
    /// Of the other medium so far.
    var sentOfOther: Int
  }

  /// Frames of video that are on their way to the kernel when sound comes.
  private let begun: Int

  /// - Parameter isEncrypted: frames are encrypted several at a time.
  init(isEncrypted: Bool) { begun = isEncrypted ? 8 : 2 }

  /// A payload of sound was sent.
  func soundSent(_ place: Place, picturesSent: Int) -> String? {
    let count = picturesSent - place.sentOfOther
    let most = place.ahead + begun
    return count > most ? "sound has waited for \(count) pictures instead of \(most)" : nil
  }

  /// A picture was sent.
  ///
  /// - Parameter frameCount: of SDL, of this one and those that were queued before it.
  func pictureSent(_ place: Place, soundsSent: Int, frameCount: Int) -> String? {
    let count = soundsSent - place.sentOfOther
    let most = frameCount + begun
    return count > most ? "a picture has waited for \(count) pieces of sound instead of \(most)" : nil
  }
}
