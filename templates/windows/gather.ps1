# Collects sections for failure reports and support bundles: a list of title and text. The text of a section that fails
# is the reason. Sections: title, kind, name, lines, of the newest files of a folder also match (a pattern of whole
# paths), and the arguments of a program.
[CmdletBinding()]
param([Parameter(Mandatory = $true)]$Sections)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
# The end of a file. Without an encoding Windows PowerShell takes UTF-8 without a mark for another one.
function Get-End {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Path, [Parameter(Mandatory = $true)][int]$Lines)
    Get-Content -LiteralPath $Path -Tail $Lines -Encoding 'UTF8'
}
# One kind of what the Host Networking Service has.
function Get-HnsPart {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][string]$Name)
    if ($Name -eq 'networks') { return Get-HnsNetwork }
    if ($Name -eq 'endpoints') { return Get-HnsEndpoint }
    Get-HnsPolicyList
}
function Get-ShortLine {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][AllowEmptyString()][string]$Line)
    if ($Line.Length -gt 8192) { return "$($Line.Substring(0, 8192)) (cut)" }
    $Line
}
function Get-SectionText {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)]$Section)
    $name = [string]$Section.name
    $lines = [int]$Section.lines
    if ($Section.kind -eq 'file') { return @(Get-End -Path $name -Lines $lines) }
    if ($Section.kind -eq 'newest') {
        $match = [string]$Section.match
        $files = @(Get-ChildItem -LiteralPath $name -File -Recurse | Where-Object -FilterScript { $_.FullName -like $match } | Sort-Object -Property 'LastWriteTime' -Descending | Select-Object -First 5)
        foreach ($file in $files) {
            "-- $($file.FullName)"
            # The others can be had without it.
            try { Get-End -Path $file.FullName -Lines $lines }
            catch { "not to be had: $($_.Exception.Message)" }
        }
        return
    }
    if ($Section.kind -eq 'list') {
        foreach ($file in @(Get-ChildItem -LiteralPath $name -File -Recurse | Select-Object -First $lines)) { "$($file.Length) $($file.FullName)" }
        return
    }
    if ($Section.kind -eq 'services') {
        $found = @(Get-CimInstance -ClassName 'Win32_Service')
        foreach ($one in $name.Split(',')) {
            foreach ($service in @($found | Where-Object -FilterScript { "$(Get-PropertyOrNull -Of $_ -Name 'Name')" -eq $one })) {
                "$(Get-PropertyOrNull -Of $service -Name 'Name'): $(Get-PropertyOrNull -Of $service -Name 'State'), $(Get-PropertyOrNull -Of $service -Name 'StartMode'), ended with $(Get-PropertyOrNull -Of $service -Name 'ExitCode'): $(Get-PropertyOrNull -Of $service -Name 'PathName')"
            }
        }
        return
    }
    if ($Section.kind -eq 'events') {
        $parts = @($name.Split(':'))
        $filter = @{ LogName = $parts[0] }
        if ($parts.Count -gt 1) { $filter['ProviderName'] = $parts[1] }
        foreach ($record in @(Find-Existing -Look { Get-WinEvent -FilterHashtable $filter -MaxEvents $lines -ErrorAction 'Stop' })) {
            $when = Get-PropertyOrNull -Of $record -Name 'TimeCreated'
            $time = ''
            if ($null -ne $when) { $time = "$($when.ToUniversalTime().ToString('s'))Z" }
            "$time $($record.LevelDisplayName) $($record.ProviderName): $($record.Message)"
        }
        return
    }
    if ($Section.kind -eq 'hns') {
        foreach ($part in @('networks', 'endpoints', 'policies')) {
            try { "${part}: $(ConvertTo-Json -InputObject @(Get-HnsPart -Name $part) -Depth 6)" }
            catch { "${part}: not to be had: $($_.Exception.Message)" }
        }
        return
    }
    Invoke-Native -Exe $name -Arguments @($Section.arguments)
}
$said = @()
foreach ($section in @($Sections)) {
    try { $text = @(Get-SectionText -Section $section | ForEach-Object -Process { Get-ShortLine -Line "$_" }) -join "`n" }
    catch { $text = "not to be had: $($_.Exception.Message)" }
    $said += @{ title = [string]$section.title; text = $text }
}
Write-Result -Value @($said)
