import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CheckedFinding } from '../../src/engine/check.ts';
import type { PlannedChange } from '../../src/engine/plan.ts';
import type { Phase } from '../../src/engine/step.ts';
import { checkMarkdown, COMMENT_LIMIT, markdownText, planMarkdown } from '../../src/report/markdown.ts';

const phase = (name: string, title: string): Phase => ({ kind: 'cluster', name, title, hosts: [], steps: [] });
const change = (host: string, summary: string): PlannedChange => ({
  ...{ phase: 'prepare', host, step: 'x', summary },
  change: { summary, apply: () => Promise.resolve() },
});
const finding: CheckedFinding = {
  ...{ check: 'memory', page: 'docs/checks.md#memory', severity: 'error', host: 'w1' },
  message: 'has 512 MiB of memory',
  remedy: 'add memory',
};

const plan = (planned: readonly PlannedChange[], findings: readonly CheckedFinding[] = []) =>
  planMarkdown({
    ...{ cluster: 'prod', phases: [phase('prepare', 'Prepare hosts')], planned, findings, previews: '', leftOut: '' },
    restarts: [{ what: 'kubelet', hosts: ['w1'], aboutMs: 10_000, atOnce: 1 }],
  });

test('a plan: its sum, what stops up and what restarts are open, changes are folded', async () => {
  const text = markdownText(
    plan([change('w1', 'turn swap off'), change('w2', 'turn swap off')], [finding]),
    COMMENT_LIMIT,
  );
  await expect(text).toMatchFileSnapshot('../golden/plan.md');
});

test('nothing to do, and nothing found, are one line', () => {
  expect(markdownText({ ...plan([]), blocks: [] }, COMMENT_LIMIT)).toBe('### kbuild plan: prod\n\nNothing to do.\n');
  expect(markdownText(checkMarkdown('prod', 3, []), COMMENT_LIMIT)).toBe(
    '### kbuild check: prod\n\n3 hosts: nothing found.\n',
  );
});

test('a long plan fits into a comment, says that it was cut, and closes what it opened', () => {
  const planned = Array.from({ length: 3000 }, (_, i) =>
    change(`w${String(i)}`, `change number ${String(i)} of a host`),
  );
  const text = markdownText(plan(planned), COMMENT_LIMIT);
  expect(text.length).toBeLessThanOrEqual(COMMENT_LIMIT);
  expect(text.length).toBeGreaterThan(COMMENT_LIMIT - 200);
  expect(text).toMatch(/_Cut here: .*_\n$/);
  expect(text.match(/<details/g)).toHaveLength(text.match(/<\/details>/g)!.length);
});

test('no text of a host ends the block that it stands in, or steers a terminal', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('`', '```', '\n', '</details>', '@admin', '<img src=x>', '~~~', '\u001B[2J', 'a', ' '), {
        maxLength: 30,
      }),
      (parts) => {
        const text = markdownText(
          { heading: 'h', result: 'r', blocks: [{ title: 't', text: parts.join(''), shown: 'folded' }] },
          COMMENT_LIMIT,
        );
        const lines = text.split('\n');
        const fences = lines.flatMap((line, at) =>
          /^`{3,}(?:text)?$/.test(line) && (at === 6 || at === lines.length - 4) ? [at] : [],
        );
        expect(fences).toHaveLength(2);
        const fence = lines[fences[0]!]!.replace('text', '');
        // A line of at least as many backticks would end it (CommonMark 4.5).
        for (const line of lines.slice(fences[0]! + 1, fences[1])) expect(line.includes(fence)).toBe(false);
        expect(text).not.toContain('\u001B');
      },
    ),
  );
});

test('any limit is kept, down to the result', () => {
  fc.assert(
    fc.property(fc.integer({ min: 200, max: 3000 }), (limit) => {
      const planned = Array.from({ length: 50 }, (_, i) => change(`w${String(i)}`, `change ${'x'.repeat(i)}`));
      expect(markdownText(plan(planned), limit).length).toBeLessThanOrEqual(limit);
    }),
  );
});
