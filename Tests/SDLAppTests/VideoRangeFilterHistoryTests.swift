import SDLApp
import Testing

/// Which answers caps that are in flight may have been chosen from.
@Suite struct VideoRangeFilterHistoryTests {
  private func filter(_ minimumWidth: Int) -> VideoRangeFilter {
    var range = VideoRange()
    range.minimumWidth = minimumWidth
    return VideoRangeFilter(ranges: VideoRanges(landscape: range))
  }

  @Test func formerFiltersAreForgottenWhenTheirCapsAreReplaced() {
    var history = VideoRangeFilterHistory()
    history.use(filter(100))
    history.use(filter(100))
    #expect(history.former.isEmpty && !history.formerlyAccepted(VideoSize(320, 240)))
    history.use(filter(400))
    #expect(history.former == [filter(100)] && history.formerlyAccepted(VideoSize(320, 240)))
    // Old caps: upstream is asked again, but once only.
    let asks = [320, 320, 640].map { history.capsArrived(VideoSize($0, 240)) }
    #expect(asks == [true, false, false])
    #expect(history.former.isEmpty && !history.formerlyAccepted(VideoSize(320, 240)))
  }

  @Test func theOldestFilterStays() {
    var history = VideoRangeFilterHistory()
    for width in 1...1000 { history.use(filter(width)) }
    #expect(history.former.count <= 8)
    #expect(history.former.first == filter(1) && history.former.last == filter(999))
    #expect(history.current == filter(1000))
  }

  @Test func aWarningIsNewOnceForEachFilter() {
    var history = VideoRangeFilterHistory()
    history.use(filter(1))
    let isNew = ["a", "a", "b"].map { history.isNew($0) }
    #expect(isNew == [true, false, true])
    history.use(filter(2))
    let isNewAgain = history.isNew("b")
    #expect(isNewAgain)
  }
}
