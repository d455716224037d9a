# Copyright (c) 2026 The ddpbench authors
#
# SPDX-License-Identifier: MIT
'''ReFrame tests of ddpbench: strategies of data-parallel training, the interconnect, slow hosts and links.

A job of the first two tests makes several runs. `ddpbench compare` judges them if there are runs to compare with:

- `-S baseline=DIR`: the directory that an earlier session had as `--output`, or a directory of runs;
- `-S control=PROGRAM`: an older ddpbench, which runs in turn with the tested one in the same job. As nights differ by
  more than runs of one night, this is the way to compare builds every night.

A test fails with the words of the verdict. Where the runs cannot tell, it is skipped with these words, unless
`-S strict=1`.
'''
import glob
import json
import math
import os
import re
import shlex
import statistics

import reframe as rfm
import reframe.core.runtime as rt
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.exceptions import ReframeError, SanityError


class ddpbench_test(rfm.RunOnlyRegressionTest):
    '''Runs of one command of ddpbench in one job.'''

    valid_systems = ['*']
    valid_prog_environs = ['*']
    executable = 'ddpbench'
    num_tasks = 2
    scales = {'s': (1e3, 'ms'), 'B/s': (1e-9, 'GB/s')}  # how the units of summary.json are shown

    #: The command, such as allreduce, and its options, which take the place of the test's own.
    command = variable(str, value='')
    options = variable(str)
    #: Number of runs; `compare` needs 5 of each side, or 8 with a control.
    runs = variable(int, value=5)
    #: Directory of the runs to compare with.
    baseline = variable(str, value='')
    #: Program to compare with, in turn.
    control = variable(str, value='')
    #: Options of `ddpbench compare`, such as `--tolerance 10`.
    compare_options = variable(str, value='')
    #: Whether the test fails where the runs cannot tell.
    strict = variable(bool, value=False)
    #: Options of the launcher, such as `--oversubscribe` for Open MPI.
    launcher_options = variable(str, value='')
    #: Values to expect, such as `ddp_step:34.2,none_step:31`; a performance variable may be worse by `margin`, 0.05:
    #: 5 %. A class of your own with `reference` serves several systems.
    expected = variable(typ.Dict[str, float], value={})
    margin = variable(float, value=0.05)

    @run_before('run')
    def write_job(self):
        self.job.launcher.options += shlex.split(self.launcher_options)
        options = ' '.join([self.command, self.options, *self.executable_opts]).strip()
        program, self.executable = self.located(self.executable), '"$program"'
        self.executable_opts = [options, '--output "$side/$run"']
        self.prerun_cmds += [
            f'for run in $(seq {self.runs}); do',
            f'for side in {"control runs" if self.control else "runs"}; do',
            f'program={program}',
            f'[ "$side" = runs ] || program={self.located(self.control)}',
        ]
        self.postrun_cmds += ['status=$?', '[ "$status" = 0 ] || break 2', 'done', 'done', 'echo "$status" >status']
        self.keep_files = ['runs']
        baseline = shlex.join(self.find_baseline()) or ('control/*' if self.control else '')
        if baseline:
            self.postrun_cmds += [f'{program} compare {baseline} --candidate runs/* {self.compare_options}'
                                  ' --html compare.html >compare.txt; echo $? >compare.status']
            self.keep_files += ['compare.txt', 'compare.html']

    @staticmethod
    def located(program):
        '''The program as a word of a shell, also in the stage directory.'''
        return shlex.quote(os.path.abspath(program) if os.sep in program else program)

    def find_baseline(self):
        '''The directories of the baseline's runs.'''
        if not self.baseline:
            return []
        if self.control:
            raise ReframeError('there are two baselines: give baseline=DIR or control=PROGRAM')
        folder = os.path.abspath(self.baseline)
        earlier = os.path.join(folder, os.path.relpath(self.outputdir, rt.runtime().output_prefix), 'runs')
        found = glob.glob(os.path.join(glob.escape(folder), '*', 'run.json')) or \
            glob.glob(os.path.join(glob.escape(earlier), '*', 'run.json'))
        if not found:
            raise ReframeError(f'baseline={self.baseline}: there are no runs in {folder} or {earlier}')
        return sorted(os.path.dirname(file) for file in found)

    @sanity_function
    def judge(self):
        status = self.status_of('status')
        if status != 0:
            self.fail_or_skip(status)
        if self.baseline or self.control:
            status = self.status_of('compare.status')
            words = re.search(r'^(Settings differ:|Verdict:).*', self.text_of('compare.txt'), re.MULTILINE | re.DOTALL)
            reason = ' '.join(words[0].split()) if words else self.complaint('ddpbench compare', status)
            if status == 4 and not self.strict:
                self.skip(reason)
            if status != 0:
                raise SanityError(reason)
        return True

    def fail_or_skip(self, status):
        '''Ends the test, of which a run ended with a status other than 0.'''
        raise SanityError(self.complaint('a run', status))

    def text_of(self, name):
        with open(os.path.join(self.stagedir, name)) as file:
            return file.read()

    def status_of(self, name):
        if not os.path.exists(os.path.join(self.stagedir, name)):
            raise SanityError(self.complaint('the job', 'unknown'))
        return int(self.text_of(name))

    def complaint(self, what, status):
        said = self.text_of(self.stderr.evaluate()).strip().splitlines()
        return f'{what} ended with status {status}: ' + ' '.join(said[-3:])

    def summaries(self):
        '''summary.json of each run.'''
        files = glob.glob(os.path.join(glob.escape(self.stagedir), 'runs/*/summary.json'))
        return [json.loads(self.text_of(file)) for file in sorted(files)]

    @run_before('performance')
    def set_performance(self):
        '''Makes a performance variable of each chosen figure: the geometric mean over the runs.'''
        values, references = {}, {}
        for summary in self.summaries():
            for name, figure in self.choose(summary['figures']).items():
                if figure['value']:  # a single rank has no bus bandwidth
                    values.setdefault(re.sub(r'\W+', '_', name), []).append(figure)
        for name, figures in values.items():
            scale, unit = self.scales[figures[0]['unit']]
            value = scale * math.exp(statistics.mean(math.log(figure['value']) for figure in figures))
            self.perf_variables[name] = sn.make_performance_function(sn.defer(value), unit)
            limits = (None, self.margin) if figures[0]['better'] == 'lower' else (-self.margin, None)
            if name in self.expected:
                references[name] = (self.expected[name], *limits, unit)
        unknown = ', '.join(set(self.expected) - set(values))
        if unknown:
            raise ReframeError(f'expected: there is no {unknown}; known are {", ".join(values)}')
        if references:
            self.reference = {'*': references}


@rfm.simple_test
class ddpbench_benchmark(ddpbench_test):
    '''The time of a training step with each strategy.'''

    descr = 'training step with each strategy'
    options = '--preset laptop --rounds 20'

    def choose(self, figures):
        return {f'{figure["subject"]} step': figure for figure in figures if figure['name'] == 'step'}


@rfm.simple_test
class ddpbench_allreduce(ddpbench_test):
    '''The time of the smallest message, and the bus bandwidth of the largest.'''

    descr = 'time and bandwidth of all-reduce'
    command = 'allreduce'
    options = '-b 8 -e 64M -f 8'
    scales = {'s': (1e6, 'us'), 'B/s': (1e-9, 'GB/s')}

    def choose(self, figures):
        sizes = [figure['bytes'] for figure in figures if figure['name'] == 'time']
        wanted = [('time', min(sizes, default=None)), ('busbw', max(sizes, default=None))]
        return {f'{figure["subject"]} {figure["name"]} {figure["bytes"]}': figure
                for figure in figures if (figure['name'], figure.get('bytes')) in wanted}


@rfm.simple_test
class ddpbench_isolate(ddpbench_test):
    '''Which host or link is slow, by comparison with each other; needs no baseline.

    To search all idle nodes of a partition: `-S num_tasks=0 -S num_tasks_per_node=1 -S options='--per host'`.
    '''

    descr = 'which host or link is slow'
    command = 'isolate'
    options = '--per rank'
    num_tasks = 4
    runs = 1

    @run_after('init')
    def compare_nothing(self):
        self.baseline = self.control = ''

    def fail_or_skip(self, status):
        words = ' '.join(sentence for summary in self.summaries() for sentence in summary['answers'])
        if status == 4 and not self.strict:
            self.skip(words)
        raise SanityError(words if status in (3, 4) else self.complaint('a run', status))

    def choose(self, figures):
        members = [figure for figure in figures if figure['name'] in ('send', 'receive', 'product', 'copy')]
        return {f'slowest {figure["name"]}': figure for figure in sorted(members, key=lambda figure: figure['value'])}
