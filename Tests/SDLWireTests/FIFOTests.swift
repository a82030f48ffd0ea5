import SDLWire
import Testing

@Suite struct FIFOTests {
  /// Like an array, whatever is added and removed in between.
  @Test func isInOrder() {
    var (queue, array) = (FIFO<Int>(), [Int]())
    for step in 0..<500 {
      switch step * step % 11 {
      case 0, 1, 3:
        #expect(queue.popFirst() == (array.isEmpty ? nil : array.removeFirst()))
      case 4:
        queue.insert(-step, at: array.count / 3)
        array.insert(-step, at: array.count / 3)
      case 5 where !array.isEmpty:
        queue[array.count / 2] += 1000
        array[array.count / 2] += 1000
      default:
        queue.append(step)
        array.append(step)
      }
      #expect(queue.elementsEqual(array) && queue.first == array.first && queue.last == array.last)
    }
    #expect(!queue.isEmpty)
    queue.removeAll()
    #expect(queue.isEmpty && queue.popFirst() == nil)
  }

  @Test func releasesWhatIsRemoved() {
    final class Element {}
    var queue = FIFO<Element>()
    weak var first: Element?
    do {
      let element = Element()
      first = element
      queue.append(element)
    }
    queue.append(Element())
    #expect(first != nil && queue.count == 2)
    queue.popFirst()
    #expect(first == nil && queue.count == 1)
  }
}
