import type { Machine } from '../cluster-view.ts';
import { html, type Html } from '../html.ts';
import { fitted, GAP, type Part } from './picture-part.ts';
import { STANDINGS } from './standings.ts';

/** Sizes in px. */
const BOX = { least: 172, most: 240, height: 62 } as const;
const DOT = 15;

/** More hosts are a dot each instead of a box. */
const BOXES = 12;

/** A host: its name, its address or how it stands, its member of etcd. */
function box(machine: Machine, x: number, y: number, width: number): Html {
  const { name, address, standing, notes, etcd, holdsAddress } = machine;
  const [tone, sign, word] = STANDINGS[standing];
  const state = [word, ...notes].join(', ');
  const isWell = tone === 'good' || tone === 'note';
  const second = isWell && notes.length === 0 ? address : state;
  const third = [...(etcd === undefined ? [] : [`etcd ${etcd}`]), ...(holdsAddress ? ['◆ VIP'] : [])].join(' · ');
  const [left, room] = [x + 12, width - 22];
  return html`<g class="machine ${tone}">
    <title>${[`${name} (${address}): ${state}`, third].filter((part) => part !== '').join('; ')}</title>
    <rect x="${x}" y="${y}" width="${width}" height="${BOX.height}" rx="8" />
    <text class="name" x="${left}" y="${y + 21}">${fitted(name, room - 24)}</text>
    <text class="mark ${tone}" x="${x + width - 12}" y="${y + 21}">${sign}</text>
    <text x="${left}" y="${y + 37}">${fitted(second, room)}</text>
    <text x="${left}" y="${y + 53}">${fitted(third, room)}</text>
  </g>`;
}

/** Boxes of equal width, in rows that stand in the middle. */
function boxes(machines: readonly Machine[], width: number): Part {
  const most = Math.max(1, Math.floor((width - GAP) / (BOX.least + GAP)));
  const columns = Math.min(most, machines.length);
  const each = Math.min(BOX.most, (width - GAP * (columns + 1)) / columns);
  const rows = Math.ceil(machines.length / columns);
  const rowOf = (at: number): number => Math.floor(at / columns);
  const startOf = (row: number): number => {
    const inRow = Math.min(columns, machines.length - row * columns);
    return (width - inRow * each - (inRow - 1) * GAP) / 2;
  };
  return {
    height: rows * (BOX.height + GAP) - GAP,
    draw: (y) =>
      html`${machines.map((machine, at) =>
        box(machine, startOf(rowOf(at)) + (at % columns) * (each + GAP), y + rowOf(at) * (BOX.height + GAP), each),
      )}`,
  };
}

/** A host of many: a dot, or its sign if it is not well. */
function dot({ name, standing, notes }: Machine, x: number, y: number): Html {
  const [tone, sign, word] = STANDINGS[standing];
  const isWell = tone === 'good';
  const inside = isWell ? undefined : html`<text class="inside" x="${x}" y="${y + 3.5}">${sign}</text>`;
  return html`<g>
    <title>${name}: ${[word, ...notes].join(', ')}</title>
    <circle class="dot ${tone}" cx="${x}" cy="${y}" r="${isWell ? 4.5 : 6.5}" />${inside}
  </g>`;
}

function dots(machines: readonly Machine[], width: number): Part {
  const columns = Math.floor((width - 2 * GAP) / DOT);
  const place = (at: number): number => (at + 0.5) * DOT;
  return {
    height: Math.ceil(machines.length / columns) * DOT,
    draw: (y) =>
      html`${machines.map((machine, at) => dot(machine, GAP + place(at % columns), y + place(Math.floor(at / columns))))}`,
  };
}

/** Hosts in a picture: a few as boxes, many as dots. */
export const machinesPart = (machines: readonly Machine[], width: number): Part =>
  machines.length > BOXES ? dots(machines, width) : boxes(machines, width);
