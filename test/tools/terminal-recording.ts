/**
 * Terminal sessions of the documentation: asciicast v2 (https://docs.asciinema.org/manual/asciicast/v2/), as a test of the lab records
 * them, and pictures drawn from the bytes. The shell's prompt gives the window a title `exit CODE`, which nobody sees and by which the
 * commands are told apart.
 */
import xterm from '@xterm/headless';
import type { Size } from '../lab/pseudo-terminal.ts';

/** The prompt of a recorded shell, as `PS1`; and what it writes. */
export const PROMPT = String.raw`\[\e]2;exit $?\a\]$ `;
// eslint-disable-next-line no-control-regex
const PROMPTED = /\u001B\]2;exit (\d+)\u0007/;

/** The exit code of the last command in what a shell has written, when its prompt is there again. */
export function exitCode(written: string): number | undefined {
  const all = written.split(PROMPTED);
  return all.length > 1 && all.at(-1) === '$ ' ? Number(all.at(-2)) : undefined;
}

/** What a terminal got, and when: seconds since the start. */
export interface Recording extends Size {
  readonly pieces: readonly (readonly [number, string])[];
}

/** A file of asciinema. */
export function castText({ columns, rows, pieces }: Recording, title: string): string {
  const head = { version: 2, width: columns, height: rows, title, env: { TERM: 'xterm' } };
  const lines = pieces.map(([seconds, text]) => [Number(seconds.toFixed(3)), 'o', text]);
  return `${[head, ...lines].map((line) => JSON.stringify(line)).join('\n')}\n`;
}

export function readCast(text: string): Recording {
  const [head, ...lines] = text.trimEnd().split('\n');
  const { width: columns, height: rows } = JSON.parse(head!) as { readonly width: number; readonly height: number };
  const pieces = lines.map((line): Recording['pieces'][number] => {
    const [seconds, , shown] = JSON.parse(line) as [number, 'o', string];
    return [seconds, shown];
  });
  return { columns, rows, pieces };
}

/** Cells of a line that look alike. */
interface Run {
  readonly at: number;
  readonly text: string;
  /** `c2`, `dim`, `bold`. */
  readonly look: string;
}
type Line = readonly Run[];

/** Everything that a terminal has shown in the end, scrolled away or not. */
async function linesOf(bytes: string, { columns, rows }: Size): Promise<readonly Line[]> {
  const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true });
  await new Promise<void>((resolve) => terminal.write(bytes, resolve));
  const { active } = terminal.buffer;
  const lines = Array.from({ length: active.length }, (_, row): Line => {
    const runs: Run[] = [];
    for (let at = 0; at < columns; at++) {
      const cell = active.getLine(row)?.getCell(at);
      const text = cell?.getChars() ?? '';
      if (cell === undefined || text === '') continue;
      const colour = cell.isFgPalette() ? `c${String(cell.getFgColor())}` : '';
      const look = [colour, cell.isDim() ? 'dim' : '', cell.isBold() ? 'bold' : ''].filter(Boolean).join(' ');
      const last = runs.at(-1);
      if (last?.look === look && last.at + last.text.length === at)
        runs.splice(-1, 1, { ...last, text: last.text + text });
      else runs.push({ at, text, look });
    }
    return runs;
  });
  terminal.dispose();
  return lines.slice(0, lines.findLastIndex((line) => line.some(({ text }) => text.trim() !== '')) + 1);
}

const textOf = (line: Line): string => line.reduce((text, run) => text.padEnd(run.at) + run.text, '').trimEnd();

/** One command of a session. */
export interface Typed {
  readonly command: string;
  readonly code: number;
  /** What the terminal showed in the end: the command with its prompt, then its output. */
  readonly lines: readonly string[];
  readonly bytes: string;
}

/** The commands of a session. */
export async function commandsOf({ pieces, ...size }: Recording): Promise<readonly Typed[]> {
  const parts = pieces
    .map(([, text]) => text)
    .join('')
    .split(PROMPTED);
  const typed: Typed[] = [];
  for (let at = 2; at + 1 < parts.length; at += 2) {
    const bytes = parts[at]!;
    const lines = (await linesOf(bytes, size)).map(textOf);
    // readline has wrapped a line that is wider than the terminal.
    const command = bytes.slice(2, bytes.indexOf('\n')).replaceAll(/ \r|\r|\u001B\[\?2004[hl]/g, '');
    typed.push({ command, code: Number(parts[at + 1]!), lines, bytes });
  }
  return typed;
}

/** What depends on the keys of hosts, and on how busy the machine is. */
const FINGERPRINT = /SHA256:[\w+/]+/g;
const WAITS = /\d+ of \d+ hosts? answered after \d+ s/;

/** The words of a command's output, each once: what stays as it is on another day and another machine. */
export const wordsOf = ({ lines }: Pick<Typed, 'lines'>): readonly string[] =>
  [
    ...new Set(
      lines
        .filter((line) => !WAITS.test(line))
        .join(' ')
        .replaceAll(FINGERPRINT, '')
        .match(/(?<![\w.:/-])[a-z]{3,}(?![\w.:/-])/gi) ?? [],
    ),
  ].toSorted();

const COLOURS = ['#c9d1d9', '#ff7b72', '#7ee787', '#e3b341', '#79c0ff', '#d2a8ff', '#56d4dd', '#f0f6fc'];
const [WIDTH, HEIGHT, MARGIN] = [8.4, 19, 16];
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** What the terminal showed in the end as a picture. */
export async function terminalSvg(typed: readonly Typed[], size: Size, title: string): Promise<string> {
  const lines = (await Promise.all(typed.map(({ bytes }) => linesOf(bytes, size)))).flat();
  const [width, height] = [size.columns * WIDTH + 2 * MARGIN, lines.length * HEIGHT + 2 * MARGIN];
  const drawn = lines.flatMap((line, row) =>
    line
      .filter(({ text }) => text.trim() !== '')
      .map(({ at, text, look }) => {
        const [x, y] = [MARGIN + at * WIDTH, MARGIN + row * HEIGHT + 14].map((value) =>
          String(Number(value.toFixed(1))),
        );
        const long = String(Number((text.length * WIDTH).toFixed(1)));
        const kind = look === '' ? '' : ` class="${look}"`;
        return `<text x="${x!}" y="${y!}" textLength="${long}"${kind}>${escaped(text)}</text>`;
      }),
  );
  const colours = COLOURS.map((colour, index) => `.c${String(index)}{fill:${colour}}`).join('');
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${String(width)}" height="${String(height)}" viewBox="0 0 ${String(width)} ${String(height)}" role="img">
<title>${escaped(title)}</title>
<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:${COLOURS[0]!};white-space:pre}${colours}.dim{opacity:.6}.bold{font-weight:700}</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
${drawn.join('\n')}
</svg>
`;
}
