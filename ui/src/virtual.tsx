// SPDX-License-Identifier: Apache-2.0
// A long list of which only the rows on the screen are in the document. Rows are equally high.
import { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

const kAround = 12;  // rows beyond the edges, for fast scrolling

export function VirtualList<T>({ rows, height, row, label, more, class: name }: {
  rows: T[]; height: number; row: (each: T, index: number) => ComponentChildren; label: string; more?: () => void; class?: string;
}) {
  const element = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState<[number, number]>([0, 40]);
  useEffect(() => {
    const box = element.current;
    if (!box) return;
    function look() {
      const first = Math.max(0, Math.floor(box!.scrollTop / height) - kAround);
      const last = Math.ceil((box!.scrollTop + box!.clientHeight) / height) + kAround;
      setRange((old) => (old[0] === first && old[1] === last ? old : [first, last]));
      if (more && last >= rows.length) more();
    }
    look();
    box.addEventListener("scroll", look, { passive: true });
    const observer = new ResizeObserver(look);
    observer.observe(box);
    return () => {
      box.removeEventListener("scroll", look);
      observer.disconnect();
    };
  }, [rows.length, height, more]);
  const [first, last] = range;
  return (
    <div class={`virtual ${name ?? ""}`} ref={element} role="list" aria-label={label} tabIndex={0} style={{ "--rows": `${rows.length * height + 2}px` }}>
      <div style={{ height: `${rows.length * height}px` }} role="presentation">
        <div style={{ transform: `translateY(${first * height}px)` }} role="presentation">
          {rows.slice(first, last).map((each, i) => row(each, first + i))}
        </div>
      </div>
    </div>
  );
}
