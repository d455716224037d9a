# Copyright (c) 2026 The ddpbench authors
#
# SPDX-License-Identifier: MIT
'''ReFrame's configuration for one machine without a scheduler: `mpirun` of the PATH starts the ranks.'''

site_configuration = {
    'systems': [
        {
            'name': 'here',
            'descr': 'this machine',
            'hostnames': ['.*'],
            'partitions': [
                {
                    'name': 'local',
                    'scheduler': 'local',
                    'launcher': 'mpirun',
                    'environs': ['builtin'],
                    'max_jobs': 1,
                },
            ],
        },
    ],
}
