# SPDX-License-Identifier: MIT
"""tables.py - reads the CSV tables that the programs and scripts write, and finds columns by their names, as Tables.pm does for Perl."""


def renamed(row, names):
    """The row with the name that its variant has now, as a line of '#' says: NN_x/old is new, ..."""
    for old, new in (pair.split(' is ') for pair in names.split(', ') if pair):
        name, colon, config = row['variant'].partition(':')
        if f"{row['chapter']}/{name}" == old:
            row['variant'] = new + colon + config
    return row


def read_table(path):
    """(about, rows): what the lines of '#' on top say, as a dictionary, and a dictionary of texts for each row."""
    about, columns, rows = {}, None, []
    with open(path, encoding='utf-8') as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip('\r\n')
            if line.startswith('#'):
                key, found, value = line[1:].strip().partition(': ')
                if found:
                    about[key] = value
                continue
            fields = line.split(',')
            if columns is None:
                columns = fields
                continue
            if len(fields) != len(columns):
                raise SystemExit(f'{path}, line {number}: a row of {len(fields)} fields below {len(columns)} columns')
            rows.append(renamed(dict(zip(columns, fields)), about.get('renamed', '')))
    return about, rows
