import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/longest-first.ts';
import { isAllRequired } from './test/needs/table.ts';
import { needTags } from './test/needs/tags.ts';
import { plainUnlessTerminal } from './test/plain-output.ts';

plainUnlessTerminal();

const temporaryFolder = 'test/temporary-folder.ts';
const globalSetup = ['test/lab/global-setup.ts'];
const needs = { tags: needTags(), ...(isAllRequired() ? { runner: './test/needs/require-all.ts' } : {}) };
const lab = {
  globalSetup: [...globalSetup, 'test/lab/run-setup.ts'],
  setupFiles: ['test/lab/tell-logs.ts'],
  testTimeout: 900_000,
  hookTimeout: 900_000,
};

/** Vitest keeps a core free, which is half of a machine with two; scripts and servers that tests start leave it idle enough. */
const allCores = { maxWorkers: '100%' };

/** They compare what belongs to the whole machine, which kubelets of other tests change. */
const alone = ['test/lab/full-down.test.ts'];

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    reporters: ['default', './test/needs/skip-reporter.ts'],
    coverage: {
      provider: 'v8',
      reporter: ['text-summary'],
      include: ['src/**/*.ts'],
      // What talks to the world is proved against the world: the integration tests and the lab.
      exclude: [
        'src/{cli,commands,session}/**',
        'src/library.ts',
        'src/ssh/**',
        'src/**/*.survey.ts',
        'src/report/{run-renderer,terminal}.ts',
      ],
      thresholds: { lines: 90 },
    },
    projects: [
      {
        test: {
          name: 'unit',
          ...needs,
          ...allCores,
          globalSetup: [temporaryFolder],
          include: ['test/**/*.test.ts'],
          exclude: ['test/lab/**', 'test/integration/**', 'test/vm/**'],
          // Values in, values out: files need not be kept apart, and modules are loaded once.
          isolate: false,
          // Ends only a test that hangs: one of 0.7 s took more than 30 s on a machine that was busy with other things.
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        test: {
          name: 'integration',
          ...needs,
          ...allCores,
          include: ['test/integration/**/*.test.ts'],
          globalSetup: [temporaryFolder, ...globalSetup],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          // What becomes of tests whose needs are unmet: `test/integration/needs.test.ts` runs it.
          name: 'needs-fixture',
          ...needs,
          include: ['test/needs/fixture/*.ts'],
          isolate: false,
        },
      },
      {
        test: {
          name: 'core',
          include: ['test/lab/core/**/*.test.ts'],
          ...lab,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'lab',
          include: ['test/lab/**/*.test.ts'],
          exclude: ['test/lab/core/**', 'test/lab/long/**', ...alone],
          ...lab,
          // Building a cluster is mostly waiting: two at a time take two thirds of the time on two cores.
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'lab-alone',
          include: alone,
          ...lab,
          fileParallelism: false,
          // After the lab's other tests.
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'long',
          include: ['test/lab/long/**/*.test.ts'],
          ...lab,
          testTimeout: 7_200_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'vm',
          include: ['test/vm/**/*.test.ts'],
          ...lab,
          // An emulated machine: each of its steps takes minutes, and a busy machine doubles them.
          testTimeout: 3_600_000,
          hookTimeout: 3_600_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
